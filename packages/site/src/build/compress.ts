import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Smaller files gain nothing: a response of theirs is one packet anyway. */
const bytesMin = 1_000;

/** Writes a `.br` and a `.gz` beside what browsers load. They take the first from https alone. One at a time: each takes megabytes. */
export function compressFolder(folder: string): void {
  for (const file of globSync("**/*.{html,txt,json,js,css,svg}", { cwd: folder })) {
    const path = join(folder, file);
    const bytes = readFileSync(path);
    if (bytes.length < bytesMin) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 6 }));
  }
}
