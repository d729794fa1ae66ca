/* Private to isa: reading one line of assembler text. Every function skips blanks first, moves the
 * cursor only when it succeeds, and records nothing: the caller says what it wanted. */
#ifndef ISA_SCAN_H
#define ISA_SCAN_H
#include "isa.h"

struct scan {
	const char *p, *end; /* rest of the line, comment and trailing blanks cut off */
};

struct scan isa_scan_line(const char *text, size_t len);
bool isa_scan_end(struct scan *s); /* nothing is left */
bool isa_scan_is(struct scan *s,
		 const char *text); /* these characters come next; a word must end there */
bool isa_scan_word(struct scan *s, const char **word, u32 *len); /* [A-Za-z_.][A-Za-z0-9_.]* */
bool isa_scan_reg(struct scan *s, char *kind, u8 *reg);		 /* r0..r10 or w0..w10 */
bool isa_scan_number(struct scan *s, s64 *value, bool *hex);
bool isa_scan_imm(struct scan *s,
		  s32 *imm); /* fits 32 bits; hex is a bit pattern up to 0xffffffff */
bool isa_scan_mem(struct scan *s, u8 *reg, s16 *off);	       /* (rN +off), (rN) */
bool isa_scan_size(struct scan *s, u8 *size, bool *is_signed); /* (u32 *) */

#endif
