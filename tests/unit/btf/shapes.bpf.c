/* Types of every shape, for clang to make BTF of (clang-19 -target bpf -g -O2 -c). */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

enum color { RED, GREEN = 5, BLUE };
enum sign { MINUS = -1, ZERO, PLUS };
enum wide { SMALL = 1, LARGE = 0x123456789aLL };
enum wide_sign { LOW = -0x123456789aLL, HIGH = 1 };
enum __attribute__((packed)) tiny { T0, T1, T2 };
enum { LONELY = 42 };

struct bits {
	u32 a : 3;
	u32 b : 29;
	u64 c : 40;
	int d : 5;
	enum color e : 4;
	_Bool f : 1;
	u8 g;
	u32 : 0;
	u16 h : 9;
};

struct __attribute__((packed)) packed {
	u8 kind;
	u32 len;
	u64 at;
	struct {
		u16 x;
		u32 y;
	} __attribute__((packed)) inner[2];
};

struct __attribute__((aligned(64))) line {
	u32 n;
};

struct holes {
	u8 a;
	struct line line;
	u8 b;
	u64 c __attribute__((aligned(32)));
};

union ip {
	u32 v4;
	u8 bytes[16];
	struct {
		u64 high, low;
	};
};

struct list;
typedef struct list list_t;
struct list {
	list_t *next;
	struct list **back;
	const volatile char *const name;
	struct never_defined *secret;
};

typedef int (*callback)(struct list *l, const char *fmt, ...);
typedef struct {
	u32 id;
	callback calls[2];
	void (*(*maker)(int n))(void);
	int (*table[3])[4];
} ops_t;

struct all {
	struct bits bits;
	struct packed packed;
	struct holes holes;
	union ip ip;
	ops_t ops;
	enum color color;
	enum sign sign;
	enum wide wide;
	enum wide_sign wide_sign;
	enum tiny tiny;
	char name[16];
	char lines[2][8];
	signed char sc;
	unsigned char uc;
	char c;
	_Bool yes;
	float f;
	double d;
	__int128 big;
	unsigned __int128 ubig;
	s64 matrix[2][3];
	union {
		u32 as_int;
		float as_float;
	};
	struct {
		u8 mac[6];
		u16 proto;
	} eth;
	struct list list;
	u32 tail[];
};

struct all all;
const volatile u32 limit = 3;
static volatile s64 counter;
char LICENSE[] __attribute__((section("license"))) = "Dual BSD/GPL";

__attribute__((noinline)) static int helper(struct all *a, u64 n)
{
	counter += n;
	return a->bits.a + limit;
}

__attribute__((noinline)) u64 global(const struct list *l)
{
	return l ? (u64)l->next : LONELY;
}

__attribute__((section("xdp"))) int prog(void *ctx)
{
	return helper(&all, (u64)ctx) + global(0);
}
