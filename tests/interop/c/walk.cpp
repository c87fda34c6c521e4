// Walks through a book, and probes each position in several threads at once: all get the
// same answers. Prints the positions.

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <tabia.h>

namespace {

struct Free {
    void operator()(TabiaBook *book) const { tabia_close(book); }
    void operator()(TabiaWalk *walk) const { tabia_walk_free(walk); }
};

long games(const TabiaBook *book, const std::vector<std::string> &fens) {
    long sum = 0;
    for (const auto &fen : fens) {
        TabiaMove moves[218];
        std::size_t count = 0;
        if (tabia_probe(book, fen.c_str(), moves, 218, &count, nullptr) != 1)
            return -1;
        for (std::size_t at = 0; at < count; at++)
            sum += moves[at].games;
    }
    return sum;
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2)
        return 3;
    std::unique_ptr<TabiaBook, Free> book(tabia_open(argv[1], nullptr, nullptr));
    std::unique_ptr<TabiaWalk, Free> walk(tabia_walk_new(book.get(), nullptr));
    std::vector<std::string> fens;
    char fen[96];
    while (tabia_walk_next(walk.get(), fen, sizeof fen, nullptr) == 1)
        fens.emplace_back(fen);
    std::vector<long> sums(4);
    std::vector<std::thread> threads;
    // The last threads meet a book that is being read for many probes.
    for (auto &sum : sums) {
        if (&sum == &sums[2])
            tabia_reserve(book.get(), 1000000);
        threads.emplace_back([&] { sum = games(book.get(), fens); });
    }
    for (auto &thread : threads)
        thread.join();
    for (long sum : sums)
        if (sum < 0 || sum != sums[0])
            return 4;
    for (const auto &known : fens)
        std::puts(known.c_str());
    return 0;
}
