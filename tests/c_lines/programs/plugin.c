/* A library that is loaded and unloaded. */
int plugin_work(int n);

int plugin_work(int n)
{
    int sum = 0;

    while (n--)
        sum += n;
    return sum;
}
