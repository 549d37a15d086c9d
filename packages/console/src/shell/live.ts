import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { inStreamPlace, useStreamPaused } from "../calls/live-state.ts";
import { useAway } from "../session/reachability.ts";
import { useIsVisible } from "../ui/media.ts";

/** A stream that ended or could not be opened is tried again after so long; meanwhile lists look by themselves. */
const againMs = 5_000;

/**
 * Keeps one stream of what is new in the project, while the tab is visible and no page has a stream of its own. What was missed meanwhile
 * is told when it opens again.
 */
export function useLiveProject(projectId: string): void {
  const queries = useQueryClient();
  const isVisible = useIsVisible();
  const isPaused = useStreamPaused();
  const isReachable = useAway() === undefined;
  const since = useRef<Timestamp>(undefined);
  // The administrator sees no project, and would be refused the stream every few seconds.
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

/** Does it again and again, however it ends, until it is given up. */
async function keepOn(run: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // What it ended with is no news: lists look by themselves meanwhile, and say what fails.
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
