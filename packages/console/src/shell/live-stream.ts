import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { StatsService } from "@svc/gen/stats";
import type { QueryClient, QueryKey } from "@tanstack/react-query";
import { methodsOfKind, setStreamOpen } from "../calls/live-state.ts";
import { transportFor } from "../session/transport.ts";

/** Notices that arrive within this time cause one read, in milliseconds. */
const gatheredMs = 200;

/**
 * Follows the changes of a project and re-reads what they affect, until the stream ends; throws the stream's error. It continues after
 * `since`; `onAt` receives the position reached.
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

/** True if a cached answer belongs to one of these methods. Lists of many pages do not: their new rows come at the top, with one answer. */
function isOneOf(methods: ReadonlySet<string>, [, asked]: QueryKey): boolean {
  const { serviceName, methodName, cardinality } = (asked ?? {}) as Record<string, string>;
  return cardinality === "finite" && methods.has(`${serviceName}/${methodName}`);
}
