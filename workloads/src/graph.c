// SPDX-License-Identifier: GPL-2.0
/*
 * graph make file=FILE scale=NUMBER degree=NUMBER
 * graph serve file=FILE ask=FIFO answer=FIFO for=pagerank|bfs [out=FILE] [NAME=NUMBER...]
 *
 * PageRank and breadth-first search of a graph in compressed sparse rows, after the GAP benchmark
 * suite and Graph500.
 *
 * `make` writes a Kronecker graph with Graph500's parameters (A = 0.57, B = C = 0.19): 2^`scale`
 * vertices, and `degree` times as many edges, whose directions are dropped. Vertices are renumbered
 * at random. Loops and repeated edges are removed, as GAP does; neighbours are in ascending order.
 *
 * `serve` reads the graph into memory without the page cache, and is a server (serve.h). Each of
 * `threads` threads reads a part. The lines that it obeys:
 *
 *	run COUNT SEED	With for=pagerank: set all ranks to 1/vertices, and do COUNT iterations. An
 *			iteration pulls the contributions of each vertex's neighbours; the damping
 *			factor is 0.85, and the ranks of vertices without neighbours go to all
 *			vertices alike. The seed says with which vertices an iteration begins.
 *			With for=bfs: do COUNT searches, one after the other. The seed draws their
 *			roots among the vertices with neighbours. A search goes level by level from
 *			the vertices that it has reached to all their neighbours (top-down).
 *			The answer is "edges NUMBER", the neighbours that were looked at, "reached
 *			NUMBER", the vertices whose rank or parent was set, and "runs COUNT".
 *	stop		Check the last run and end. PageRank: a single thread repeats the last
 *			iteration, whose ranks must be the same to the last bit, and their sum must
 *			differ from 1 by less than 1e-9. The answer is "ranks VERTICES". BFS: as
 *			Graph500 validates a tree. Its edges are edges of the graph, and join levels
 *			that differ by one; each edge of the graph joins levels that differ by at
 *			most one, or vertices that were not reached. The answer is "tree VERTICES".
 *			The second line is "huge BYTES". The ranks (doubles) or parents (32 bits)
 *			of the last run are written to `out`, if it is set.
 */
#include "serve.h"

#include <errno.h>
#include <math.h>

#define ALIGN 4096ul
#define SCALE_MAX 30
#define DAMPING 0.85
/* Vertices that a thread takes at a time: of an iteration, and of a level of a search. */
#define CHUNK 1024
#define TAKE 64
#define NONE UINT32_MAX

static const char *file_path, *algorithm = "", *out_path;
static unsigned long scale, degree;

static const struct setting known[] = {
	SERVE_SETTINGS,
	{ "file", NULL, &file_path }, { "for", NULL, &algorithm }, { "out", NULL, &out_path },
	{ "scale", &scale, NULL }, { "degree", &degree, NULL }, { NULL, NULL, NULL },
};

/* The file: this at its beginning, the first places, and the neighbours, each at ALIGN. */
struct head {
	uint64_t vertices, entries;
};

static uint64_t vertices;
/* The neighbours of vertex v are neighbour[first[v]] to neighbour[first[v + 1] - 1]. */
static uint64_t *first;
static uint32_t *neighbour;

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ALIGN - 1) & ~(ALIGN - 1);
}

static uint64_t degree_of(uint64_t vertex)
{
	return first[vertex + 1] - first[vertex];
}

static void *allocate(size_t bytes)
{
	void *at = malloc(bytes);

	if (!at)
		errx(1, "no %zu bytes of memory", bytes);
	return at;
}

/* Making a graph. */

/* Return another number of `scale` bits for each such number. */
static uint32_t renumber(uint64_t vertex)
{
	uint64_t mask = (1ul << scale) - 1;
	unsigned int half = (unsigned int)(scale + 1) / 2;

	for (int round = 0; round < 3; round++) {
		vertex = (vertex * 0x9e3779b97f4a7c15ull + 0x5bd1e995) & mask;
		vertex ^= vertex >> half;
	}
	return (uint32_t)vertex;
}

/* Draw an edge: each level of the recursion chooses a quarter of the matrix with 16 random bits. */
static void draw_edge(struct random *random, uint32_t edge[2])
{
	const uint64_t a = (uint64_t)(0.57 * 65536), ab = (uint64_t)(0.76 * 65536);
	const uint64_t abc = (uint64_t)(0.95 * 65536);
	uint64_t from = 0, to = 0, bits = 0;

	for (unsigned long at = 0; at < scale; at++, bits >>= 16) {
		uint64_t part;

		if (at % 4 == 0)
			bits = draw(random, UINT64_MAX);
		part = bits & 0xffff;
		from = 2 * from + (part >= ab);
		to = 2 * to + ((part >= a) ^ (part >= ab) ^ (part >= abc));
	}
	edge[0] = renumber(from);
	edge[1] = renumber(to);
}

/* Make `first` the first places of rows whose lengths are in first[1] and so on. */
static void add_up(void)
{
	for (uint64_t vertex = 0; vertex < vertices; vertex++)
		first[vertex + 1] += first[vertex];
}

/* Put the edges into rows, in both directions. */
static void make_rows(uint32_t (*edge)[2], uint64_t edges)
{
	uint64_t *next = allocate(vertices * sizeof(*next));

	for (uint64_t at = 0; at < edges; at++) {
		first[edge[at][0] + 1]++;
		first[edge[at][1] + 1]++;
	}
	add_up();
	memcpy(next, first, vertices * sizeof(*next));
	for (uint64_t at = 0; at < edges; at++) {
		neighbour[next[edge[at][0]]++] = edge[at][1];
		neighbour[next[edge[at][1]]++] = edge[at][0];
	}
	free(next);
}

/* Sort each row: the graph is symmetric, so that going through its rows fills them in order. */
static void sort_rows(void)
{
	uint32_t *sorted = allocate(first[vertices] * sizeof(*sorted) + 1);
	uint64_t *next = allocate(vertices * sizeof(*next));

	memcpy(next, first, vertices * sizeof(*next));
	for (uint64_t vertex = 0; vertex < vertices; vertex++)
		for (uint64_t at = first[vertex]; at < first[vertex + 1]; at++)
			sorted[next[neighbour[at]]++] = (uint32_t)vertex;
	free(next);
	free(neighbour);
	neighbour = sorted;
}

/* Remove loops and repeated edges. */
static void clean_rows(void)
{
	uint64_t kept = 0, begin = 0;

	for (uint64_t vertex = 0; vertex < vertices; vertex++) {
		uint64_t end = first[vertex + 1], start = kept;

		for (uint64_t at = begin; at < end; at++)
			if (neighbour[at] != vertex &&
			    (kept == start || neighbour[kept - 1] != neighbour[at]))
				neighbour[kept++] = neighbour[at];
		begin = end;
		first[vertex + 1] = kept;
	}
}

/* Write @bytes to the file, and fill up to a multiple of ALIGN. */
static void put(FILE *file, const void *data, size_t bytes)
{
	static const char zeros[ALIGN];

	if (fwrite(data, 1, bytes, file) != bytes ||
	    fwrite(zeros, 1, aligned(bytes) - bytes, file) != aligned(bytes) - bytes)
		err(1, "%s", file_path);
}

static void make(void)
{
	struct random random = { .state = 1 };
	uint64_t edges = degree << scale;
	uint32_t (*edge)[2] = allocate(edges * sizeof(*edge));
	struct head head;
	FILE *file;

	vertices = 1ul << scale;
	first = calloc(vertices + 1, sizeof(*first));
	neighbour = allocate(2 * edges * sizeof(*neighbour));
	if (!first)
		errx(1, "no memory for %lu vertices", vertices);
	for (uint64_t at = 0; at < edges; at++)
		draw_edge(&random, edge[at]);
	make_rows(edge, edges);
	free(edge);
	sort_rows();
	clean_rows();
	head.vertices = vertices;
	head.entries = first[vertices];
	file = fopen(file_path, "w");
	if (!file)
		err(1, "%s", file_path);
	put(file, &head, sizeof(head));
	put(file, first, (vertices + 1) * sizeof(*first));
	put(file, neighbour, head.entries * sizeof(*neighbour));
	if (fclose(file))
		err(1, "%s", file_path);
	printf("entries %lu\n", head.entries);
	free(first);
	free(neighbour);
}

/* Reading it. */

static int graph_file;

/* Read @bytes at @offset of the file to @to; all are multiples of ALIGN. */
static void get(char *to, uint64_t bytes, uint64_t offset)
{
	while (bytes) {
		ssize_t got = pread(graph_file, to, bytes < HUGE_PAGE ? bytes : HUGE_PAGE,
				    (off_t)offset);

		if (got <= 0 || got % (ssize_t)ALIGN)
			fail("%s: cannot be read at %lu", file_path, offset);
		to += got;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
}

/* Read a thread's part of @bytes, which begin at @offset. */
static void get_part(unsigned long thread, void *to, uint64_t bytes, uint64_t offset)
{
	uint64_t pages = aligned(bytes) / ALIGN;
	uint64_t from = pages * thread / threads, until = pages * (thread + 1) / threads;

	get((char *)to + from * ALIGN, (until - from) * ALIGN, offset + from * ALIGN);
}

static void load_part(unsigned long thread)
{
	uint64_t places = (vertices + 1) * sizeof(*first), entries;

	get_part(thread, first, places, ALIGN);
	meet();
	entries = first[vertices];
	for (uint64_t at = vertices * thread / threads; at < vertices * (thread + 1) / threads; at++)
		if (first[at] > first[at + 1] || first[at + 1] > entries)
			fail("%s: vertex %lu has no valid row", file_path, at);
	get_part(thread, neighbour, entries * sizeof(*neighbour), ALIGN + aligned(places));
	meet();
	for (uint64_t at = entries * thread / threads; at < entries * (thread + 1) / threads; at++)
		if (neighbour[at] >= vertices)
			fail("%s: vertex %u is out of range", file_path, neighbour[at]);
}

static void load_graph(void)
{
	struct head *head = map(ALIGN);

	graph_file = open(file_path, O_RDONLY | O_DIRECT);
	/* A file system in memory has no O_DIRECT. */
	if (graph_file < 0 && errno == EINVAL)
		graph_file = open(file_path, O_RDONLY);
	if (graph_file < 0)
		fail("%s: cannot be opened", file_path);
	get((char *)head, ALIGN, 0);
	vertices = head->vertices;
	if (!vertices || vertices > 1ul << SCALE_MAX || head->entries > vertices << 16)
		fail("%s: not a graph", file_path);
	first = map(aligned((vertices + 1) * sizeof(*first)));
	neighbour = map(aligned(head->entries * sizeof(*neighbour)));
	in_threads(load_part);
	if (first[0] || first[vertices] != head->entries)
		fail("%s: the rows are not %lu entries long", file_path, head->entries);
	close(graph_file);
}

/* What all threads work on: a run, and what has been taken of an iteration or a level. */
static struct {
	uint64_t count, seed, taken, edges, reached;
} work;

static void write_out(const void *data, size_t bytes)
{
	FILE *file = out_path ? fopen(out_path, "w") : NULL;

	if (out_path && (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)))
		fail("%s: cannot be written", out_path);
}

/* PageRank. */

/*
 * What a vertex gives to each neighbour, its rank divided by their number; its rank if it has
 * none. Before an iteration and after it.
 */
static double *given[2];
/* The ranks of vertices without neighbours, added up in each chunk. */
static double *alone[2];
static uint64_t chunks;
/* What each vertex gets in any case. */
static double base;

/* Return what a vertex of this rank gives. */
static double gift(uint64_t vertex, double rank)
{
	uint64_t count = degree_of(vertex);

	return count ? rank / (double)count : rank;
}

/* Return the rank of a vertex after an iteration from @from. */
static double pull(const double *from, uint64_t vertex)
{
	double sum = 0;

	for (uint64_t at = first[vertex]; at < first[vertex + 1]; at++)
		sum += from[neighbour[at]];
	return base + DAMPING * sum;
}

static void set_base(const double *sums)
{
	double sum = 0;

	for (uint64_t chunk = 0; chunk < chunks; chunk++)
		sum += sums[chunk];
	base = (1 - DAMPING + DAMPING * sum) / (double)vertices;
}

static uint64_t end_of(uint64_t chunk)
{
	return (chunk + 1) * CHUNK < vertices ? (chunk + 1) * CHUNK : vertices;
}

/* Do the chunks of iteration @number; iteration 0 sets the ranks of the beginning. */
static void iterate(uint64_t number)
{
	uint64_t rotate = mix(work.seed) % chunks, taken;
	double *from = given[(number + 1) % 2], *to = given[number % 2];

	while ((taken = __atomic_fetch_add(&work.taken, 1, __ATOMIC_RELAXED)) < chunks) {
		uint64_t chunk = (taken + rotate) % chunks;
		double sum = 0;

		for (uint64_t at = chunk * CHUNK; at < end_of(chunk); at++) {
			double rank = number ? pull(from, at) : 1 / (double)vertices;

			to[at] = gift(at, rank);
			sum += degree_of(at) ? 0 : rank;
		}
		alone[number % 2][chunk] = sum;
	}
}

static void rank_thread(unsigned long thread)
{
	(void)thread;
	for (uint64_t number = 0; number <= work.count; number++) {
		iterate(number);
		if (meet() && number < work.count) {
			set_base(alone[number % 2]);
			work.taken = 0;
		}
		meet();
	}
}

static void rank_all(void)
{
	work.taken = 0;
	in_threads(rank_thread);
	work.edges = work.count * first[vertices];
	work.reached = work.count * vertices;
}

/* Repeat the last iteration in one thread, and compare it with what the threads did. */
static void check_ranks(FILE *answer)
{
	const double *from = given[(work.count + 1) % 2], *to = given[work.count % 2];
	double *rank = map(vertices * sizeof(*rank));
	long double sum = 0;

	for (uint64_t vertex = 0; vertex < vertices; vertex++) {
		rank[vertex] = pull(from, vertex);
		sum += rank[vertex];
		if (gift(vertex, rank[vertex]) != to[vertex])
			fail("vertex %lu: its rank differs from that of a single thread", vertex);
	}
	if (fabsl(sum - 1) > 1e-9L)
		fail("the ranks add up to %.12Lf and not to 1", sum);
	write_out(rank, vertices * sizeof(*rank));
	fprintf(answer, "ranks %lu\n", vertices);
}

/* Breadth-first search. */

static uint32_t *parent, *frontier[2], root;
/* The vertices in both. */
static uint64_t size[2];

static void forget(unsigned long thread)
{
	for (uint64_t at = vertices * thread / threads; at < vertices * (thread + 1) / threads; at++)
		parent[at] = NONE;
}

/* The vertices that a thread has reached, until they go to the next frontier. */
struct found {
	uint64_t count;
	uint32_t vertex[CHUNK];
};

static void add_found(struct found *found, unsigned int to)
{
	uint64_t at = __atomic_fetch_add(&size[to], found->count, __ATOMIC_RELAXED);

	memcpy(frontier[to] + at, found->vertex, found->count * sizeof(*found->vertex));
	found->count = 0;
}

/* Look at the neighbours of a vertex. */
static void visit(uint32_t vertex, struct found *found, unsigned int to)
{
	for (uint64_t at = first[vertex]; at < first[vertex + 1]; at++) {
		uint32_t other = neighbour[at], none = NONE;

		if (__atomic_load_n(&parent[other], __ATOMIC_RELAXED) != NONE ||
		    !__atomic_compare_exchange_n(&parent[other], &none, vertex, false,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		found->vertex[found->count++] = other;
		if (found->count == CHUNK)
			add_found(found, to);
	}
}

/* Visit a thread's share of frontier @from. */
static void expand(unsigned int from)
{
	uint64_t taken, edges = 0, visited = 0;
	struct found found;

	found.count = 0;
	while ((taken = __atomic_fetch_add(&work.taken, TAKE, __ATOMIC_RELAXED)) < size[from])
		for (uint64_t at = taken; at < taken + TAKE && at < size[from]; at++) {
			visit(frontier[from][at], &found, !from);
			edges += degree_of(frontier[from][at]);
			visited++;
		}
	add_found(&found, !from);
	__atomic_fetch_add(&work.edges, edges, __ATOMIC_RELAXED);
	__atomic_fetch_add(&work.reached, visited, __ATOMIC_RELAXED);
}

static void search_thread(unsigned long thread)
{
	unsigned int from = 0;

	forget(thread);
	if (meet()) {
		parent[root] = root;
		frontier[0][0] = root;
		size[0] = 1;
		size[1] = 0;
		work.taken = 0;
	}
	meet();
	while (size[from]) {
		expand(from);
		if (meet()) {
			size[from] = 0;
			work.taken = 0;
		}
		meet();
		from = !from;
	}
}

static void search_all(void)
{
	struct random random = { .state = mix(work.seed) };

	if (!first[vertices])
		fail("%s: no vertex has neighbours", file_path);
	for (uint64_t done = 0; done < work.count; done++) {
		do
			root = (uint32_t)draw(&random, vertices);
		while (!degree_of(root));
		in_threads(search_thread);
	}
}

/* Set the levels of a vertex and of its ancestors. */
static void set_level(uint32_t *level, uint32_t vertex)
{
	uint32_t at = vertex, steps = 0, above;

	for (; level[at] == NONE; at = parent[at])
		if (++steps > vertices || parent[at] == NONE)
			fail("vertex %u: its parents do not lead to the root", vertex);
	above = level[at];
	for (at = vertex; level[at] == NONE; at = parent[at])
		level[at] = above + steps--;
}

static void check_edges(const uint32_t *level, uint32_t vertex)
{
	bool is_edge = vertex == root || level[vertex] == NONE;

	for (uint64_t at = first[vertex]; at < first[vertex + 1]; at++) {
		uint32_t other = neighbour[at];

		if ((level[vertex] == NONE) != (level[other] == NONE))
			fail("vertices %u and %u: only one was reached", vertex, other);
		if (level[vertex] != NONE &&
		    (level[vertex] > level[other] + 1 || level[other] > level[vertex] + 1))
			fail("vertices %u and %u: their levels differ by more than 1", vertex, other);
		is_edge |= other == parent[vertex];
	}
	if (!is_edge)
		fail("vertex %u: the edge to its parent is not in the graph", vertex);
}

static void check_tree(FILE *answer)
{
	uint32_t *level = map(vertices * sizeof(*level));
	uint64_t reached = 0;

	memset(level, 0xff, vertices * sizeof(*level));
	if (parent[root] != root)
		fail("vertex %u: it is the root, and has a parent", root);
	level[root] = 0;
	for (uint32_t vertex = 0; vertex < vertices; vertex++)
		if (parent[vertex] != NONE) {
			set_level(level, vertex);
			reached++;
		}
	for (uint32_t vertex = 0; vertex < vertices; vertex++)
		check_edges(level, vertex);
	write_out(parent, vertices * sizeof(*parent));
	fprintf(answer, "tree %lu\n", reached);
}

static bool ranks(void)
{
	return !strcmp(algorithm, "pagerank");
}

static void load(void)
{
	load_graph();
	chunks = (vertices + CHUNK - 1) / CHUNK;
	for (int at = 0; at < 2; at++) {
		if (ranks()) {
			given[at] = map(vertices * sizeof(**given));
			alone[at] = map(chunks * sizeof(**alone));
		} else {
			frontier[at] = map(vertices * sizeof(**frontier));
		}
	}
	if (!ranks())
		parent = map(vertices * sizeof(*parent));
}

static void obey(const char *line, FILE *answer)
{
	memset(&work, 0, sizeof(work));
	if (sscanf(line, "run %lu %lu", &work.count, &work.seed) != 2 || !work.count)
		fail("'%s' is neither 'run COUNT SEED' nor 'stop'", line);
	if (ranks())
		rank_all();
	else
		search_all();
	fprintf(answer, "edges %lu\nreached %lu\nruns %lu\n", work.edges, work.reached, work.count);
}

static void stop(FILE *answer)
{
	if (!work.count)
		fail("there is nothing to check before a run");
	if (ranks())
		check_ranks(answer);
	else
		check_tree(answer);
}

int main(int count, char **arguments)
{
	if (count < 3)
		errx(2, "usage: graph make|serve file=FILE [NAME=VALUE...] (see its source)");
	set_all(known, arguments + 2);
	if (!file_path)
		errx(2, "file is missing");
	if (!strcmp(arguments[1], "make")) {
		if (scale < 2 || scale > SCALE_MAX || !degree || degree > 1024)
			errx(2, "scale or degree is missing or out of range");
		make();
	} else if (!strcmp(arguments[1], "serve")) {
		if (!ranks() && strcmp(algorithm, "bfs"))
			errx(2, "for=%s is neither pagerank nor bfs", algorithm);
		serve(load, obey, stop);
	} else {
		errx(2, "'%s' is neither make nor serve", arguments[1]);
	}
	return 0;
}
