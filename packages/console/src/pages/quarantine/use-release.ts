import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { AdminService } from "@svc/gen/admin";
import { useRef, useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { emptyTally, type ReleaseFilter, type ReleaseTally, releasePages } from "./release.ts";

/** Where a release stands: asked for, dry runs, the run itself, and its ends. */
export type ReleaseStep = "asked" | "trying" | "tried" | "releasing" | "released" | "stopped";

/** A release under way: how it stands, and what became of the posts so far. A dry run that is stopped or fails counts for nothing. */
export function useRelease(filter: ReleaseFilter): {
  step: ReleaseStep;
  tally: ReleaseTally;
  error: unknown;
  start: (isDryRun: boolean) => Promise<void>;
  stop: () => void;
} {
  const transport = useTransport();
  const refresh = useRefresh(AdminService);
  const [step, setStep] = useState<ReleaseStep>("asked");
  const [tally, setTally] = useState(emptyTally);
  const [error, setError] = useState<unknown>();
  const isStopped = useRef(false);
  const start = async (isDryRun: boolean) => {
    isStopped.current = false;
    setError(undefined);
    setTally(emptyTally);
    setStep(isDryRun ? "trying" : "releasing");
    try {
      await releasePages(filter, {
        isDryRun,
        send: (request) => callUnaryMethod(transport, AdminService.method.releaseQuarantinedPosts, request),
        onPage: setTally,
        isStopped: () => isStopped.current,
      });
      setStep(endOf(isDryRun, isStopped.current));
    } catch (cause) {
      setError(cause);
      setStep(endOf(isDryRun, true));
    }
    if (!isDryRun) await refresh();
  };
  const stop = () => {
    isStopped.current = true;
  };
  return { step, tally, error, start, stop };
}

function endOf(isDryRun: boolean, isStopped: boolean): ReleaseStep {
  if (isDryRun) return isStopped ? "asked" : "tried";
  return isStopped ? "stopped" : "released";
}
