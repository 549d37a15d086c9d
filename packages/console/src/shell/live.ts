import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { inStreamPlace, useStreamPaused } from "../calls/live-state.ts";
import { useAway } from "../session/reachability.ts";
import { useIsVisible } from "../ui/media.ts";

/** Pause before a stream is opened again after it ended or could not be opened, in milliseconds. Lists poll during the pause. */
const againMs = 5_000;

/**
 * Keeps one stream of the project's changes open. The stream closes while the tab is hidden, or while a page has its own stream. A reopened
 * stream continues at its last position, so it also reports the changes since then.
 */
export function useLiveProject(projectId: string): void {
  const queries = useQueryClient();
  const isVisible = useIsVisible();
  const isPaused = useStreamPaused();
  const isReachable = useAway() === undefined;
  const since = useRef<Timestamp>(undefined);
  // True if the stream should be open. The administrator's seat may not read the changes of projects; the service would refuse the stream
  // again every few seconds.
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

/** Calls `run` again each time its promise ends, until the signal aborts. */
async function keepOn(run: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // An error of the stream can be ignored here, because lists poll while it is closed and show their own errors.
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
