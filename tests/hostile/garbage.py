"""bpf(2) with garbage, from a program under libskep.so: every answer is an error, an object at most; nothing dies. Pointers that
are followed directly (element commands, test runs) are left out: docs/abi.md says why."""
import ctypes, os, platform, random, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
BPF = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
HOT = {1, 2, 3, 4, 10, 21}
MAGIC = 0x736b6570
ODD = [0, 1, 2, 4, 8, 168, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 32, (1 << 47) - 1, 1 << 47, (1 << 63), (1 << 64) - 1]


def bpf(cmd, attr, size):
    return libc.syscall(ctypes.c_long(BPF), ctypes.c_long(cmd), ctypes.c_void_p(attr), ctypes.c_long(size))


if bpf(MAGIC, 0, 0) <= 0:
    sys.exit('skep does not answer')
rnd = random.Random(7)
text = ctypes.create_string_buffer(8192)
kernel_btf = (ctypes.c_uint64 * 21)(1)
libc.close(ctypes.c_int(bpf(19, ctypes.addressof(kernel_btf), 168)))  # becomes an object when first asked for, for good
before = len(os.listdir('/proc/self/fd'))
refused = 0
for i in range(20000):
    cmd = rnd.choice([c for c in range(40) if c not in HOT] + [rnd.randrange(1 << 31)])
    if cmd in HOT:
        continue
    words = [rnd.choice(ODD + [ctypes.addressof(text), rnd.randrange(1 << 64), rnd.randrange(64)]) for _ in range(21)]
    attr = (ctypes.c_uint64 * 21)(*words[:rnd.randrange(1, 22)])
    where = rnd.choice([ctypes.addressof(attr)] * 8 + ODD)
    got = bpf(cmd, where, rnd.choice([ctypes.sizeof(attr)] * 4 + ODD))
    refused += got < 0
    if got > 2 and cmd not in (11, 12, 23, 31):
        libc.close(ctypes.c_int(got))
after = len(os.listdir('/proc/self/fd'))
print(f'{refused} refused; descriptors {before} {after}')
sys.exit(refused < 15000 or after != before)
