import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { StatsService } from "@svc/gen/stats";
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { methodsOfKind, setStreamOpen } from "../calls/live-state.ts";
import { transportFor } from "../session/transport.ts";

/** Time in milliseconds for which notices of changes are collected. The affected lists are then read once. */
const gatheredMs = 200;

/**
 * Follows the stream of a project's changes, and reads affected lists and pages again. Resolves when the stream ends; rejects with its
 * error. `since`: time after which changes are reported. `onAt`: called with the time of each new change.
 */
export async function followProject(
  projectId: string,
  queries: QueryClient,
  { since, onAt, signal }: { since: Timestamp | undefined; onAt: (at: Timestamp) => void; signal: AbortSignal },
): Promise<void> {
  const told = new Set<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = () => {
    timer = undefined;
    const methods = new Set([...told].flatMap((kind) => methodsOfKind[kind] ?? []));
    told.clear();
    void queries.invalidateQueries({ predicate: ({ queryKey }) => isOneOf(methods, queryKey) });
  };
  try {
    const stream = createClient(StatsService, transportFor(projectId)).watchProject(
      since === undefined ? {} : { since },
      { signal },
    );
    for await (const { notice, at } of stream) {
      setStreamOpen(true);
      if (at !== undefined) onAt(at);
      if (notice === undefined) continue;
      told.add(notice.kind);
      timer ??= setTimeout(read, gatheredMs);
    }
  } finally {
    clearTimeout(timer);
    setStreamOpen(false);
  }
}

/**
 * True if a cached answer comes from one of the given API methods and has a single page. Such an answer is read again after a change. False
 * for lists with several pages, because these lists read their new rows themselves.
 */
function isOneOf(methods: ReadonlySet<string>, [, asked]: QueryKey): boolean {
  const { serviceName, methodName, cardinality } = (asked ?? {}) as Record<string, string>;
  return cardinality === "finite" && methods.has(`${serviceName}/${methodName}`);
}
