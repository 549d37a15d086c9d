import { type Failure, Remedy } from "@svc/gen/failures";
import type { Job } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { Button, buttonClass } from "../../ui/buttons/button.tsx";
import { laterPart } from "../../ui/later-part.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";
import { failureCodeWords } from "../../words/calls.ts";
import { hasEnded, jobRemedyWords } from "../../words/jobs.ts";
import { parkWords } from "../../words/park.ts";
import { AskBody } from "../asks/ask-body.tsx";
import { Plan } from "../asks/plan.tsx";
import { useAsk } from "../asks/use-ask.ts";
import { JobLink } from "./job-link.tsx";

const RetryDialog = laterPart(() => import("./retry-dialog.tsx"));

/** Draws the reason why a job waits, the form that answers its question, and the job's last error. */
export function ParkNotice({ job, projectId }: { job: Job; projectId: string }) {
  const { park, pausedAt, lastError, failure, status } = job;
  const change = hasEnded(status) ? null : /^TOOL_CHANGED: (step \w+: (\w+)\..*)$/s.exec(lastError);
  return (
    <>
      {change !== null && <ChangedTool reason={change[1] ?? ""} toolkitSlug={change[2] ?? ""} projectId={projectId} />}
      {change === null && (failure !== undefined || lastError !== "") && (
        <FailureBanner job={job} projectId={projectId} />
      )}
      {pausedAt !== undefined && park?.reason !== "paused" && !hasEnded(status) && (
        <Notice tone="warn" title="Pausing" icon="pause">
          <p>Running calls finish first.</p>
        </Notice>
      )}
      {park !== undefined && <Parked job={job} projectId={projectId} />}
    </>
  );
}

type ChangedToolProps = { readonly reason: string; readonly toolkitSlug: string; readonly projectId: string };

/** Draws that a call of the job waits until an approver accepts a change of its tool, with a link to the change. */
function ChangedTool({ reason, toolkitSlug, projectId }: ChangedToolProps) {
  return (
    <Notice
      tone="warn"
      icon="pause"
      title="Waiting for an approver"
      actions={
        <Link
          to="/p/$projectId/toolkits/$toolkitSlug/changes"
          params={{ projectId, toolkitSlug }}
          className={buttonClass()}
        >
          See the changes of the app
        </Link>
      }
    >
      <p>{reason}.</p>
    </Notice>
  );
}

/** Draws why a job failed in one sentence, with the button of the action that helps best. */
function FailureBanner({ job, projectId }: { job: Job; projectId: string }) {
  const { failure, lastError } = job;
  return (
    <Notice
      tone="bad"
      title={failure?.title ?? lastError}
      actions={failure && <RemedyButton job={job} failure={failure} projectId={projectId} />}
    >
      {failure !== undefined && (
        <p>
          {failure.stepId !== "" && (
            <>
              Step <b>{failure.stepId}</b>:{" "}
            </>
          )}
          <span title={failure.code}>{failureCodeWords(failure.code)}</span>
          {failure.httpStatus > 0 && `, status ${failure.httpStatus}`}
        </p>
      )}
      {failure?.remedy[0] === Remedy.RAISE_LIMIT && (
        <p>A retry has the same limit. Raise it under “limits” in the program, and submit the program again.</p>
      )}
    </Notice>
  );
}

/** Draws the button for the first action that may solve a failure. Draws nothing if the page shows this action elsewhere. */
function RemedyButton({ job, failure, projectId }: { job: Job; failure: Failure; projectId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [first = Remedy.UNSPECIFIED] = failure.remedy;
  const words = jobRemedyWords(first);
  if (words === undefined) return null;
  if (first === Remedy.RECONNECT_ACCOUNT || first === Remedy.CONNECT_ACCOUNT) {
    const [toolkit = ""] = failure.toolSlug.split(".");
    const search = { connect: toolkit, ...(failure.entityId !== "" && { for: failure.entityId }) };
    return (
      <Link to="/p/$projectId/accounts" params={{ projectId }} search={search} className={buttonClass("primary")}>
        {words}
      </Link>
    );
  }
  if (first === Remedy.RETRY_JOB || first === Remedy.ASK_AGAIN) {
    return (
      <>
        <Button kind="primary" icon="replay" onPress={() => setOpen(true)}>
          {words}
        </Button>
        <Suspense>{isOpen && <RetryDialog job={job} onClose={() => setOpen(false)} />}</Suspense>
      </>
    );
  }
  return (
    <Link
      to="/p/$projectId/programs/new"
      params={{ projectId }}
      search={{ from: job.id }}
      className={buttonClass("primary")}
    >
      {words}
    </Link>
  );
}

function Parked({ job, projectId }: { job: Job; projectId: string }) {
  const { park } = job;
  const requestId = park?.judgment?.requestId ?? "";
  const asked = useAsk(job.id, requestId);
  if (park === undefined) return null;
  const { title, next, forPerson } = parkWords(park.reason);
  const ask = asked.data?.ask;
  return (
    <>
      <Notice
        tone={forPerson ? "warn" : "info"}
        icon={park.judgment === undefined ? "pause" : "ask"}
        title={park.stepId === "" ? title : `${title}, in step ${park.stepId}`}
      >
        <p>
          Since <Time at={park.since} />. {next}
          {park.wakeAt !== undefined && (
            <>
              {" "}
              That is <Time at={park.wakeAt} />.
            </>
          )}
        </p>
        {park.childJobId !== "" && <JobLink projectId={projectId} id={park.childJobId} />}
      </Notice>
      {requestId !== "" && asked.isPending && <Skeleton rows={14} />}
      <FaultNotice error={asked.error} onRetry={() => void asked.refetch()} />
      {ask !== undefined && (
        <Section
          title={ask.question}
          boxed
          actions={
            <Link to="/p/$projectId/asks/$jobId/$askId" params={{ projectId, jobId: job.id, askId: ask.requestId }}>
              {ask.approvalId === "" ? "Open the question" : "See what will run"}
            </Link>
          }
        >
          {ask.approvalId !== "" && <Plan programJson={job.programJson} />}
          <AskBody ask={ask} job={job} projectId={projectId} wide />
        </Section>
      )}
    </>
  );
}
