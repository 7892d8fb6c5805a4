/* browser.h - a page is shown to whoever sits in front of the machine. */
#ifndef VENTURI_BASE_BROWSER_H
#define VENTURI_BASE_BROWSER_H

#include <stdbool.h>

/* Opens a file with $BROWSER or xdg-open and does not wait. False: there is none. */
bool vti_browser_open(const char *path);

#endif
