// For `node --require`: Stockfish 19 in WebAssembly only prints its critical errors; the
// native program ends with code 1 after that line, and so does this.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (text, ...rest) => {
    const taken = write(text, ...rest);
    if (String(text).includes("CRITICAL ERROR")) process.exit(1);
    return taken;
};
