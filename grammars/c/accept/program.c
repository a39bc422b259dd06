#include <stdio.h>
#include <stdlib.h>
#include "list.h"

/* A list
   of numbers. */
struct node {
    int value;
    const char *name, label[16];
    struct node *next;
};

enum color { RED, GREEN = 2, BLUE, };

static const int primes[] = {2, 3, 5, [3] = 7};
static struct node first = { .value = 1, .next = 0 };
unsigned long long counter = 0xFFul;
double ratio = 1.5e-3f;

int printf_like(const char *format, ...);

static int sum(struct node *list, size_t limit)
{
    int total = 0;
    for (struct node *n = list; n != 0 && limit > 0; n = n->next, limit--) {
        if (n->value < 0) continue;
        else if (n->value == 42) {
            break;
        } else {
            total += n->value;
        }
    }
    return total;
}

int main(int argc, char argv[][80])
{
    char *buffer = (char *)malloc(sizeof(struct node) * (argc + 1)), c = '\n';
    int i, j = -1;
    *buffer = 'a';
    buffer[0] = c == '\'' ? "text" "more" : ~j;
    switch (argc) {
    case 1:
        printf("none\t%d\n", sum(&first, 10));
        break;
    default:
        i = ++j;
    }
    do { i--; } while (i > 0 || !j);
    while (1) break; // at once
    free(buffer);
    return 0;
}
