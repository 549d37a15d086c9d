import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Minimum size in bytes of a file that is compressed. A smaller file fits into one network packet anyway. */
const bytesMin = 1_000;

/**
 * Writes a `.br` and a `.gz` copy of each file that browsers load. Browsers accept `.br` only over https. The files are compressed one at a
 * time, because each compression takes megabytes of memory.
 */
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
