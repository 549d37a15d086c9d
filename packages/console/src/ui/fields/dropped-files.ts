/** A file with its path in the dropped or chosen selection (for example `shop/tools/read_order.yaml`). */
export type NamedFile = { path: string; file: File };

/** Maximum number of files that are read from one drop. A dropped folder with more files is probably not the folder that the user meant. */
const filesMax = 1_000;

/** Returns the dropped files, including the files in dropped folders, at most 1,000. Leaves out files that cannot be read. */
export async function droppedFiles(dropped: DataTransfer): Promise<NamedFile[]> {
  // The browser provides the entries only during the event, so they are read before the first await.
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

/** Returns all entries of a folder. The browser's reader returns entries in batches and marks the end with an empty batch. */
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
