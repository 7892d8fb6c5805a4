/* plugin.c - loaded and unloaded by unload.c; its names must survive it. */
#include <venturi/span.h>

void plugin_work(void);

void plugin_work(void)
{
    VT_SPAN("in the plugin");
}
