import { inStreamPlace } from "../../calls/stream-places.ts";

/** Where no place is free for a stream, one is opened for a moment: until nothing has come for so long. */
const silentMs = 500;

/** How a stream was read: to its end or, in `brief`, for as long as it had something to tell. */
export type StreamRead = { hasEnded: boolean; brief: boolean };

/**
 * Reads a stream in one of the browser's places for streams, for as long as it lasts; where all are taken, briefly. Throws what it ends
 * with.
 */
export async function readInPlace<Message>(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  take: (message: Message) => void,
  signal: AbortSignal,
): Promise<StreamRead> {
  let hasEnded = false;
  const inPlace = await inStreamPlace(async () => {
    for await (const message of open(signal)) take(message);
    hasEnded = true;
  }, signal);
  return inPlace || signal.aborted ? { hasEnded, brief: false } : readBriefly(open, take, signal);
}

async function readBriefly<Message>(
  open: (signal: AbortSignal) => AsyncIterable<Message>,
  take: (message: Message) => void,
  signal: AbortSignal,
): Promise<StreamRead> {
  const silent = new AbortController();
  const begin = () => setTimeout(() => silent.abort(), silentMs);
  let silence = begin();
  try {
    for await (const message of open(AbortSignal.any([signal, silent.signal]))) {
      clearTimeout(silence);
      silence = begin();
      take(message);
    }
    return { hasEnded: true, brief: true };
  } catch (err) {
    if (!silent.signal.aborted) throw err;
    return { hasEnded: false, brief: true };
  } finally {
    clearTimeout(silence);
  }
}
