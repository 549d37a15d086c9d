/** A file with its place in what was dropped or chosen, such as `shop/tools/read_order.yaml`. */
export type NamedFile = { path: string; file: File };

/** So many files are taken; a folder with more is another than was meant. */
const filesMax = 1_000;

/** The files of what was dropped, those of folders in it too, 1,000 at most. What cannot be read is left out. */
export async function droppedFiles(dropped: DataTransfer): Promise<NamedFile[]> {
  // Entries are there only while the event lasts: they are taken before anything is waited for.
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found: NamedFile[] = [];
  for (const entry of entries) await collect(entry, found);
  return found;
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (found.length >= filesMax) return;
  const path = entry.fullPath.replace(/^\//, "");
  if (isFile(entry)) {
    const file = await new Promise<File | undefined>((resolve) => entry.file(resolve, () => resolve(undefined)));
    if (file !== undefined) found.push({ path, file });
  } else if (isFolder(entry)) {
    for (const inner of await entriesOf(entry.createReader())) await collect(inner, found);
  }
}

/** All entries of a folder: its reader hands them out in batches, and an empty one is the end. */
async function entriesOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  while (all.length < filesMax) {
    const batch = await new Promise<FileSystemEntry[]>((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (batch.length === 0) break;
    all.push(...batch);
  }
  return all;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
