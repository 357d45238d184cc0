#ifndef HF_PTY_H
#define HF_PTY_H
/* A new terminal; 0, or -1 with errno. */
int pty_open(unsigned rows, unsigned cols, int *master, int *slave);
int pty_resize(int master, unsigned rows, unsigned cols);
#endif
