import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PollEventsRequestSchema, PollEventsResponse } from "@svc/gen/triggers";
import type { SvcClient } from "./client.ts";

/** Options of `pollEvents`: the fields of the request, and what ends the iteration. */
export type PollEventsOptions = Omit<MessageInitShape<typeof PollEventsRequestSchema>, "$typeName"> & {
  /** Ends the iteration without an error. Default: it never ends. */
  readonly signal?: AbortSignal | undefined;
  /** True to end the iteration when all events that exist now are read. Default: it waits for new events. */
  readonly untilRead?: boolean | undefined;
};

/** Time in milliseconds that one PollEvents call waits for new events. It is the longest time that the service allows. */
const waitMsMax = 25_000;

/**
 * Iterates over events in pages, oldest first. Each page has the cursor after its events: store it when they are processed, and give it as
 * `cursor` to continue there. Pages without events are returned too, because they also have a newer cursor. Rejects with the ConnectError
 * of a call that failed; the iteration can then begin again at the last cursor.
 */
export async function* pollEvents(
  { triggers }: Pick<SvcClient, "triggers">,
  { signal, untilRead = false, ...request }: PollEventsOptions = {},
): AsyncGenerator<PollEventsResponse, void, undefined> {
  const waitMs = untilRead ? 0 : (request.waitMs ?? waitMsMax);
  const isEnded = () => signal?.aborted === true;
  for (let cursor = request.cursor ?? ""; !isEnded(); ) {
    let page: PollEventsResponse;
    try {
      page = await triggers.pollEvents({ ...request, cursor, waitMs }, signal && { signal });
    } catch (error) {
      if (isEnded()) return;
      throw error;
    }
    yield page;
    cursor = page.cursor;
    if (untilRead && !page.hasMore) return;
  }
}
