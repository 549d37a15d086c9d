// Packs a folder into one compressed archive. The same files always give the same bytes.
import { createReadStream, createWriteStream, lstatSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";

/**
 * Writes the files below `folder` to the archive `file`. Every path begins with `package/`, as in npm's archives. The archive appears under
 * its name only when it is complete.
 */
export async function packFolder(folder, file) {
  const archive = pack();
  const written = pipeline(archive, createGzip({ level: 6 }), createWriteStream(`${file}.part`));
  for (const path of filesIn(folder)) await addFile(archive, folder, path);
  archive.finalize();
  await written;
  renameSync(`${file}.part`, file);
}

async function addFile(archive, folder, path) {
  const { size, mode } = lstatSync(join(folder, path));
  // The time that npm writes into its own archives.
  const header = {
    name: `package/${path}`,
    size,
    mode: mode & 0o111 ? 0o755 : 0o644,
    mtime: new Date("1985-10-26T08:15:00Z"),
  };
  await new Promise((resolve, reject) => {
    const entry = archive.entry(header, (error) => (error ? reject(error) : resolve()));
    createReadStream(join(folder, path)).on("error", reject).pipe(entry);
  });
}

/** Returns the files below a folder, sorted. Throws an Error for a link, because npm would leave it out. */
function filesIn(folder, below = "") {
  return readdirSync(join(folder, below), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return filesIn(folder, path);
      if (entry.isFile()) return [path];
      throw new Error(`${path} is neither a file nor a folder`);
    });
}
