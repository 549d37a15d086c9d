import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { BulkJobsAction, type BulkJobsRequestSchema, type Job, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
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
  retry: { action: BulkJobsAction.RETRY, verb: "Retry", busy: "Retrying", keep: "Close", past: "were retried" },
  cancel: {
    action: BulkJobsAction.CANCEL,
    verb: "Cancel",
    busy: "Cancelling",
    keep: "Keep running",
    past: "are cancelled",
  },
} as const;

/**
 * Draws the dialog that retries or cancels many jobs. It first counts them. It then acts on exactly the counted jobs: jobs that fail or start
 * later are left out.
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
  const jobs = countWords(matched);
  return (
    <WriteDialog
      method={JobsService.method.bulkJobs}
      title={counted.data === undefined ? `${verb} jobs?` : `${verb} ${jobs}?`}
      fields={{}}
      request={() => ({ ...of, action, ...(until && { until }) })}
      why={() => (counted.data === undefined ? "Counting the jobs" : matched === 0 ? "No job matches" : undefined)}
      keep={keep}
      act={counted.data === undefined ? verb : `${verb} ${jobs}`}
      busy={busy}
      kind={act === "cancel" ? "danger" : "primary"}
      onClose={onClose}
      done={({ done, refused, hasMore: isLeft }) => {
        const left = isLeft && done > 0 ? " More jobs match: press it again for the others." : "";
        announce(`${countWords(done)} ${past}${refused === 0 ? "" : `, ${refused} refused`}.${left}`);
        onDone();
        onClose();
      }}
    >
      <FaultNotice error={counted.error} onRetry={() => void counted.refetch()} />
      {counted.isPending && <p>Counting the jobs.</p>}
      {matched > 0 && (
        <p>
          {act === "retry"
            ? "Each job continues where it stopped. Rows that succeeded stay, and failed rows run again."
            : "Running calls finish, and no new call starts. Changes are undone where the program says so."}
        </p>
      )}
      {hasMore && <p>More jobs match. These are the newest.</p>}
    </WriteDialog>
  );
}

function countWords(count: number): string {
  return count === 1 ? "1 job" : `${count.toLocaleString("en")} jobs`;
}
