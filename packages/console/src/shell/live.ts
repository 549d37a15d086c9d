import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { inStreamPlace, useStreamPaused } from "../calls/live-state.ts";
import { useAway } from "../session/reachability.ts";
import { useIsVisible } from "../ui/media.ts";

/** Time before a stream that ended or could not be opened is retried, in milliseconds; meanwhile lists poll. */
const againMs = 5_000;

/**
 * Keeps one stream of the project's changes, while the tab is visible and no page has a stream of its own. When it opens again, it reports
 * the changes missed meanwhile.
 */
export function useLiveProject(projectId: string): void {
  const queries = useQueryClient();
  const isVisible = useIsVisible();
  const isPaused = useStreamPaused();
  const isReachable = useAway() === undefined;
  const since = useRef<Timestamp>(undefined);
  // The administrator sees no project, and the stream would be refused every few seconds.
  const isOn = projectId !== "admin" && isVisible && !isPaused && isReachable;
  useEffect(() => {
    if (!isOn) return undefined;
    const ended = new AbortController();
    const { signal } = ended;
    const onAt = (at: Timestamp) => {
      since.current = at;
    };
    const follow = async () => {
      const { followProject } = await import("./live-stream.ts");
      if (!signal.aborted) await followProject(projectId, queries, { since: since.current, onAt, signal });
    };
    void keepOn(() => inStreamPlace(follow, signal), signal);
    return () => ended.abort();
  }, [projectId, queries, isOn]);
}

/** Runs it again whenever it ends, until the signal aborts. */
async function keepOn(run: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Its error can be ignored: lists poll meanwhile, and report their errors.
    await run().catch(() => {});
    if (!signal.aborted) await pause(signal);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, againMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
