/*
 * lock.c - the lock of a graph, and forks: those wait until no thread is in it, so that a child finds every graph as it should be.
 *
 * All that is done under it is short and calls nobody's functions.
 */
#include "graph/graph.h"

/* Shared by who has the lock of a graph, for a fork alone. A fork comes first: others could go on for ever. */
static pthread_rwlock_t forks = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void)
{
    pthread_rwlock_wrlock(&forks);
}

static void after_fork(void)
{
    pthread_rwlock_unlock(&forks);
}

/* It is another thread than the one that took it, by its number: it could not give it back. */
static void in_child(void)
{
    static const pthread_rwlock_t anew = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

#ifdef __SANITIZE_THREAD__
    pthread_rwlock_unlock(&forks); /* it takes the thread for the same, and the lock for taken */
#endif
    forks = anew;
}

__attribute__((constructor)) static void survive_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void vti_graph_lock(vt_graph *graph)
{
    pthread_rwlock_rdlock(&forks);
    pthread_mutex_lock(&graph->lock);
}

void vti_graph_unlock(vt_graph *graph)
{
    pthread_mutex_unlock(&graph->lock);
    pthread_rwlock_unlock(&forks);
}
