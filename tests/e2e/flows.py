#!/usr/bin/python3
"""flows.py CAPTURE.pcap: the flows of a capture, counted without skep, in the order and form that `normal` gives.
flows.py --json RUN.json: the same from what `skep run -j` on examples/flow.bpf.o printed. Equal output: equal flows."""
import ipaddress, json, struct, sys

def from_capture(path):
    data = open(path, 'rb').read()
    magic = struct.unpack('<I', data[:4])[0]
    e = '<' if magic in (0xa1b2c3d4, 0xa1b23c4d) else '>'
    at, flows = 24, {}
    while at < len(data):
        size = struct.unpack(e + 'I', data[at + 8:at + 12])[0]
        count(data[at + 16:at + 16 + size], flows)
        at += 16 + size
    return flows

def count(p, flows):
    if len(p) < 14: return
    proto, at = struct.unpack('>H', p[12:14])[0], 14
    for _ in range(2):
        if proto in (0x8100, 0x88a8) and len(p) >= at + 4:
            proto, at = struct.unpack('>H', p[at + 2:at + 4])[0], at + 4
    if proto == 0x0800 and len(p) >= at + 20:
        if p[at] >> 4 != 4 or p[at] & 15 < 5 or struct.unpack('>H', p[at + 6:at + 8])[0] & 0x1fff: return
        mapped = b'\0' * 10 + b'\xff\xff'
        src, dst, ip, at = mapped + p[at + 12:at + 16], mapped + p[at + 16:at + 20], p[at + 9], at + (p[at] & 15) * 4
    elif proto == 0x86dd and len(p) >= at + 40:
        if p[at] >> 4 != 6: return
        src, dst, ip, at = p[at + 8:at + 24], p[at + 24:at + 40], p[at + 6], at + 40
    else: return
    sport = dport = 0
    if ip in (6, 17):
        if len(p) < at + 4: return
        sport, dport = struct.unpack('>HH', p[at:at + 4])
    elif ip in (1, 58):
        if len(p) < at + 2: return
        sport, dport = p[at], p[at + 1]
    f = flows.setdefault((src, dst, ip, sport, dport), [0, 0])
    f[0] += 1; f[1] += len(p)

def from_run(doc):
    flows = {}
    addr = lambda a: b''.join(struct.pack('=I', w) for w in a['word'])
    for entry in next(m for m in doc['maps'] if m['name'] == 'flows')['entries']:
        k, values = entry['key'], [v['value'] for v in entry['values']]
        flows[(addr(k['src']), addr(k['dst']), k['proto'], k['sport'], k['dport'])] = [
            sum(v['packets'] for v in values), sum(v['bytes'] for v in values)]
    return flows

def normal(flows):
    name = lambda a: str(ipaddress.ip_address(a[12:] if a[:12] == b'\0' * 10 + b'\xff\xff' else a))
    proto = {1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmp6'}
    rows = [(-b, -n, proto.get(p, str(p)), name(s), sp, name(d), dp) for (s, d, p, sp, dp), (n, b) in flows.items()]
    return [(r[2], r[3], r[4], r[5], r[6], -r[1], -r[0]) for r in sorted(rows)]

def table(rows, top):
    print(f'{"proto":5} {"source":>22} {"port":>5}    {"destination":>22} {"port":>5} {"packets":>8} {"bytes":>9}')
    for r in rows[:top]:
        print(f'{r[0]:5} {r[1]:>22} {r[2]:>5} -> {r[3]:>22} {r[4]:>5} {r[5]:>8} {r[6]:>9}')
    if len(rows) > top: print(f'... and {len(rows) - top} more flows')

if __name__ == '__main__':
    if sys.argv[1] == '--json': rows = normal(from_run(json.load(open(sys.argv[2]))))
    else: rows = normal(from_capture(sys.argv[1]))
    table(rows, int(sys.argv[3]) if len(sys.argv) > 3 else 10 ** 9)
