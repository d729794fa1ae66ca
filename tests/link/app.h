/* What app.bpf.c sends on its ring buffer. */
#ifndef APP_H
#define APP_H

struct event {
	unsigned int sequence, key;
	char letter;
};

#endif
