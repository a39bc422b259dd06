void f(void);
extern int a[3][N], *b;
