import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { AdminService } from "@svc/gen/admin";
import { TriggersService } from "@svc/gen/triggers";
import { useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { outcomeWords, quarantineReasonWord } from "../../words/quarantine.ts";
import { emptyTally, type ReleasedPosts, type ReleaseTally, releasePages } from "./release.ts";

/**
 * Draws the dialog that releases quarantined webhook posts (processes them again). First a dry run shows the results. A second press then
 * releases the posts, page by page.
 */
function ReleaseDialog({ filter, onClose }: { filter: ReleasedPosts; onClose: () => void }) {
  const { step, tally, error, start, stop } = useRelease(filter);
  const isRunning = step === "trying" || step === "releasing";
  const isDone = step === "released" || step === "stopped";
  return (
    <Dialog
      open
      onClose={isRunning ? stop : onClose}
      title={"ids" in filter ? "Release this post" : "Release posts"}
      hideOnInteractOutside={false}
      actions={
        isRunning ? (
          <Button onPress={stop}>Stop</Button>
        ) : isDone ? (
          <Button kind="primary" onPress={onClose}>
            Close
          </Button>
        ) : (
          <>
            <Button onPress={onClose}>Cancel</Button>
            <Button kind={step === "tried" ? "plain" : "primary"} onPress={() => void start(true)}>
              {step === "tried" ? "Dry run again" : "Dry run"}
            </Button>
            <Button
              kind={step === "tried" && !staysWhole(tally) ? "primary" : "plain"}
              why={step === "tried" ? undefined : "Run the dry run first"}
              onPress={() => void start(false)}
            >
              {releaseWords(tally)}
            </Button>
          </>
        )
      }
    >
      <p>{whichWords(filter)}</p>
      {step === "asked" && <p>Run the dry run first. It shows the result and changes nothing.</p>}
      {step !== "asked" && <Tally tally={tally} step={step} />}
      <FaultNotice error={error} />
    </Dialog>
  );
}

/**
 * Returns the label of the button that releases quarantined webhook posts (processes them again). The label has the number of posts when it
 * is known, unless all posts would stay in quarantine.
 */
function releaseWords(tally: ReleaseTally): string {
  if (tally.tried === 0) return "Release";
  return staysWhole(tally) ? "Release anyway" : `Release ${tally.tried.toLocaleString("en")}`;
}

/**
 * True if the dry run shows that every webhook post would stay in quarantine (kept, because svc cannot turn it into an event), so that
 * there is nothing to release.
 */
function staysWhole({ tried, outcomes }: ReleaseTally): boolean {
  return tried > 0 && outcomes["quarantined"] === tried;
}

function whichWords(filter: ReleasedPosts): string {
  const again = "processed again with the current definitions and accounts.";
  if ("ids" in filter) return `The post is ${again} If it fails again, it stays in quarantine.`;
  const which = filter.toolkitSlug === "" ? "All quarantined posts" : `All quarantined posts to ${filter.toolkitSlug}`;
  return `${which} are ${again} Oldest first. Posts that fail again stay in quarantine.`;
}

const titles = {
  trying: "Dry run",
  tried: "Result of the dry run",
  releasing: "Releasing",
  released: "Done",
  stopped: "Stopped. The rest stays in quarantine",
} as const;

function Tally({ tally, step }: { tally: ReleaseTally; step: keyof typeof titles }) {
  const isDryRun = step === "trying" || step === "tried";
  const isInVain = step === "released" && staysWhole(tally);
  return (
    <div role="status">
      <Notice
        tone={isInVain ? "warn" : step === "released" ? "ok" : "info"}
        title={`${isInVain ? "Nothing was released" : titles[step]}: ${tally.tried.toLocaleString("en")} ${tally.tried === 1 ? "post" : "posts"}`}
      >
        {Object.entries(tally.outcomes).map(([outcome, count]) => (
          <p key={outcome}>{outcomeWords(outcome, count, isDryRun)}</p>
        ))}
        {tally.stays.map((reason) => (
          <p key={reason}>
            <code>{reason}</code>: {quarantineReasonWord(reason).says}
          </p>
        ))}
      </Notice>
    </div>
  );
}

/**
 * The steps of a release: requested (`asked`), dry run (`trying`, `tried`), real run (`releasing`), and its ends (`released`, `stopped`).
 */
type ReleaseStep = "asked" | "trying" | "tried" | "releasing" | "released" | "stopped";

/**
 * Returns the state of a release of quarantined webhook posts (refused posts kept for inspection): its current step, and its results so
 * far. If a dry run stops or fails, its results are removed.
 */
function useRelease(filter: ReleasedPosts): {
  step: ReleaseStep;
  tally: ReleaseTally;
  error: unknown;
  start: (isDryRun: boolean) => Promise<void>;
  stop: () => void;
} {
  const transport = useTransport();
  const { projectId } = useParams({ strict: false });
  const service = projectId === undefined ? AdminService : TriggersService;
  const refresh = useRefresh(service);
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
        send: (request) => callUnaryMethod(transport, service.method.releaseQuarantinedPosts, request),
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

/**
 * Draws a button for releasing quarantined webhook posts (refused posts kept for inspection), which processes them again. The button opens
 * a dialog that first shows a dry run. If `why` is set, the button is disabled and shows this reason.
 */
export function ReleaseButton({
  words,
  filter,
  why,
}: {
  words: string;
  filter: ReleasedPosts;
  why?: string | undefined;
}) {
  const [opened, setOpened] = useState<ReleasedPosts>();
  const { projectId } = useParams({ strict: false });
  const roleWhy = useApproverWhy(projectId ?? "");
  return (
    <>
      <Button
        icon="replay"
        why={why ?? (projectId === undefined ? undefined : roleWhy)}
        onPress={() => setOpened(filter)}
      >
        {words}
      </Button>
      {opened !== undefined && <ReleaseDialog filter={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
