import { useQuery } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { SandboxService } from "@svc/gen/sandbox";
import { StatsService } from "@svc/gen/stats";
import { useLookMs } from "../../calls/live-state.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { usePassed } from "../../clock.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { State } from "../../ui/values/state.tsx";
import { hasEnded, jobStatusWord } from "../../words/jobs.ts";
import { closeLookMs, lookMs, sampleApps, sampleProgram, sampleUser } from "./first-steps.ts";
import { ProgramPicture } from "./pictures.tsx";
import styles from "./start.module.css";
import { CardLink, type CardProperties, StartCard } from "./start-card.tsx";

/**
 * Draws the card of a new project that shows how to run a program. In the sandbox, one press connects the accounts of a sample program and
 * runs it.
 */
export function ProgramCard({ projectId, start, isDone, onPress }: CardProperties) {
  const refresh = useRefresh(StatsService);
  const connect = useWrite(SandboxService.method.connectSandboxAccounts);
  const submit = useWrite(JobsService.method.submitJob, { onSuccess: () => void refresh() });
  const jobId = submit.answer?.job?.id ?? "";
  const press = async () => {
    onPress();
    await connect.sendAsync({ entityId: sampleUser, toolkitSlugs: [...sampleApps] });
    await submit.sendAsync({ programJson: sampleProgram(), idempotencyKey: randomKey() });
  };
  const isBusy = connect.isSending || submit.isSending;
  const frame = {
    title: "Run a program",
    icon: "job",
    colour: "job",
    isDone,
    picture: <ProgramPicture />,
    says: "Steps that read, filter, wait, ask and undo. A program survives restarts, and you watch it run.",
  } as const;
  if (!start.sandbox)
    return (
      <StartCard
        {...frame}
        note="Needs accounts of the apps that the program calls. A dry run sends no writes."
        result={null}
      >
        <CardLink to="/p/$projectId/programs/new" params={{ projectId }} isMain>
          Open an example
        </CardLink>
        <CardLink to="/p/$projectId/accounts" params={{ projectId }}>
          Connect an account
        </CardLink>
      </StartCard>
    );
  return (
    <StartCard
      {...frame}
      note="Reads three sandbox apps at once and sends one message. About 1 second."
      result={
        <>
          <FaultNotice error={connect.error ?? submit.error} />
          {jobId !== "" && <RunningJob key={jobId} jobId={jobId} />}
        </>
      }
    >
      {jobId === "" ? (
        <Button
          kind="primary"
          icon="job"
          busy={isBusy ? "Starting" : undefined}
          onPress={() => void press().catch(() => undefined)}
        >
          Run it
        </Button>
      ) : (
        <>
          <CardLink to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId }} isMain>
            See the run
          </CardLink>
          <Button busy={isBusy ? "Starting" : undefined} onPress={() => void press().catch(() => undefined)}>
            Run again
          </Button>
        </>
      )}
      <CardLink to="/p/$projectId/programs/new" params={{ projectId }}>
        Write your own
      </CardLink>
      <CardLink to="/p/$projectId/schedules/new" params={{ projectId }}>
        Put one on a schedule
      </CardLink>
    </StartCard>
  );
}

/** Draws the state of the sample job, and reads it often until it ends or `closeLookMs` have passed. */
function RunningJob({ jobId }: { jobId: string }) {
  const { getJob } = JobsService.method;
  const isLate = usePassed(closeLookMs);
  const usualMs = useLookMs(getJob);
  const found = useQuery(
    getJob,
    { id: jobId },
    { refetchInterval: ({ state }) => !hasEnded(state.data?.job?.status ?? 0) && (isLate ? usualMs : lookMs) },
  );
  const job = found.data?.job;
  const isToSay = job !== undefined && isLate && !hasEnded(job.status);
  return (
    <>
      <FaultNotice error={found.error} />
      {job !== undefined && (
        <div className={styles["row"]}>
          <b>{job.title}</b>
          <span className={styles["glance"]}>{job.receipt?.resultJson ?? job.lastError}</span>
          <State word={jobStatusWord(job.status)} />
        </div>
      )}
      {isToSay && <p className={styles["quiet"]}>It takes longer than usual. {jobStatusWord(job.status).says}</p>}
    </>
  );
}
