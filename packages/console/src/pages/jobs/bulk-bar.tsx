import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { BulkJobsAction, type BulkJobsRequestSchema, type Job, JobsService } from "@svc/gen/jobs";
import { useEffect, useRef, useState } from "react";
import { useNow } from "../../clock.ts";
import type { ListPart } from "../../frame/list-filters.tsx";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { type JobsSearch, jobsSearch } from "./filters.ts";
import { actsOf } from "./job-actions.ts";

const minuteMs = 60_000;

/** Jobs to act on: the ones with these ids, or the ones that a filter finds. */
type BulkOf = Pick<MessageInitShape<typeof BulkJobsRequestSchema>, "jobIds" | "filter">;
type Act = "retry" | "cancel";

/**
 * Draws the actions on many jobs: on those that the user has selected in the list, or on all that the filter finds. `selected`: ids of the
 * selected jobs.
 */
export default function BulkBar({
  search,
  rows,
  selected,
  clear,
}: ListPart<Job, JobsSearch> & { selected: readonly string[]; clear: () => void }) {
  const [open, setOpen] = useState<{ act: Act; of: BulkOf }>();
  const filter = jobsSearch.request(search, useNow(minuteMs));
  const chosen = rows.filter(({ id }) => selected.includes(id));
  const allows = (act: Act) => chosen.some((job) => actsOf(job)[act]);
  const ofChosen = (act: Act) => setOpen({ act, of: { jobIds: [...selected] } });
  const ofAll = (act: Act) => setOpen({ act, of: { filter } });
  if (selected.length === 0 && search.preset !== "failed" && search.preset !== "running" && open === undefined)
    return null;
  return (
    <Line>
      {selected.length > 0 ? (
        <>
          <span>{selected.length} selected</span>
          <Button
            icon="replay"
            onPress={() => ofChosen("retry")}
            why={allows("retry") ? undefined : "None can be retried"}
          >
            Retry selected
          </Button>
          <Button
            kind="danger"
            onPress={() => ofChosen("cancel")}
            why={allows("cancel") ? undefined : "All of them have ended"}
          >
            Cancel selected
          </Button>
          <Button kind="quiet" onPress={clear}>
            Clear selection
          </Button>
        </>
      ) : search.preset === "running" ? (
        <Button kind="danger" onPress={() => ofAll("cancel")}>
          Cancel all that run
        </Button>
      ) : (
        <Button icon="replay" onPress={() => ofAll("retry")}>
          Retry all that failed
        </Button>
      )}
      {open !== undefined && <BulkDialog {...open} onClose={() => setOpen(undefined)} onDone={clear} />}
    </Line>
  );
}

const words = {
  retry: {
    action: BulkJobsAction.RETRY,
    verb: "Retry",
    busy: "Retrying",
    keep: "Close",
    past: ["was retried", "were retried"],
  },
  cancel: {
    action: BulkJobsAction.CANCEL,
    verb: "Cancel",
    busy: "Cancelling",
    keep: "Keep running",
    past: ["is cancelled", "are cancelled"],
  },
} as const;

/**
 * Draws the dialog that retries or cancels many jobs. It first counts them. It then acts on exactly the counted jobs: jobs that fail or
 * start later are left out.
 */
export function BulkDialog({
  act,
  of,
  onClose,
  onDone,
}: {
  act: Act;
  of: BulkOf;
  onClose: () => void;
  onDone: () => void;
}) {
  const { action, verb, busy, keep, past } = words[act];
  const counted = useQuery(
    JobsService.method.bulkJobs,
    { ...of, action, dryRun: true },
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );
  const { matched = 0, until, hasMore = false } = counted.data ?? {};
  const jobs = hasMore ? "all jobs that match" : countWords(matched);
  const sums = useRef({ after: "", done: 0, refused: 0 });
  const [progress, setProgress] = useState("");
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  const request = () => ({ ...of, action, ...(until && { until }), after: sums.current.after });
  const sumWords = () => {
    const { done, refused } = sums.current;
    return `${countWords(done)} ${past[done === 1 ? 0 : 1]}${refused === 0 ? "" : `, ${refused.toLocaleString("en")} refused`}`;
  };
  return (
    <WriteDialog
      method={JobsService.method.bulkJobs}
      title={counted.data === undefined ? `${verb} jobs?` : `${verb} ${jobs}?`}
      fields={{}}
      request={request}
      why={() =>
        counted.data === undefined ? "Counting the jobs" : matched === 0 && !hasMore ? "No job matches" : undefined
      }
      keep={keep}
      act={counted.data === undefined ? verb : `${verb} ${jobs}`}
      busy={busy}
      kind={act === "cancel" ? "danger" : "primary"}
      onClose={onClose}
      more={({ done, refused, next }) => {
        sums.current = { after: next, done: sums.current.done + done, refused: sums.current.refused + refused };
        setProgress(next === "" ? "" : `${sumWords()} so far.`);
        return next !== "" && isOpen.current ? request() : undefined;
      }}
      done={({ hasMore: isLeft }) => {
        announce(`${sumWords()}.${isLeft ? " More jobs match." : ""}`);
        onDone();
        onClose();
      }}
    >
      <FaultNotice error={counted.error} onRetry={() => void counted.refetch()} />
      {counted.isPending && <p>Counting the jobs.</p>}
      {(matched > 0 || hasMore) && (
        <p>
          {act === "retry"
            ? "Each job continues where it stopped. Rows that succeeded stay, and failed rows run again."
            : "Running calls finish, and no new call starts. Changes are undone where the program says so."}
        </p>
      )}
      {hasMore && progress === "" && (
        <p>
          {matched > 0 && `At least ${countWords(matched)} match. `}
          svc begins with the newest. If you close this, it stops before the next 1,000 jobs.
        </p>
      )}
      {progress !== "" && <p>{progress}</p>}
    </WriteDialog>
  );
}

function countWords(count: number): string {
  return count === 1 ? "1 job" : `${count.toLocaleString("en")} jobs`;
}
