import { useQuery } from "@connectrpc/connect-query";
import { type Job, JobsService } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { KeyName } from "../../session/key-name.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import { JobLink, ScheduleLink } from "./job-link.tsx";

/** Draws the facts of a job, without its progress. */
export function JobFacts({ job, projectId }: { job: Job; projectId: string }) {
  const { id, mode, createdAt, finishedAt, submittedByKeyId, skillSlug, parentJobId, attempt, programHash } = job;
  return (
    <Section title="Job">
      <Facts
        facts={[
          ["Id", <Copyable key="id" text={id} what="id" />],
          ["Mode", mode],
          ["Attempt", attempt > 1 ? attempt : undefined],
          ["Submitted", <Time key="created" at={createdAt} />],
          ["Ended", finishedAt === undefined ? undefined : <Time key="ended" at={finishedAt} />],
          ["By key", <KeyName key="key" id={submittedByKeyId} />],
          [
            "Calls",
            <Link key="calls" to="/p/$projectId/calls" params={{ projectId }} search={{ job: id }}>
              View its calls
            </Link>,
          ],
          ["Saved tool", skillSlug === "" ? undefined : skillSlug],
          ["Run by", parentJobId === "" ? undefined : <JobLink key="parent" projectId={projectId} id={parentJobId} />],
          [
            "Schedule",
            job.standingProgramId === "" ? undefined : (
              <ScheduleLink key="standing" projectId={projectId} id={job.standingProgramId} />
            ),
          ],
          [
            "Simulation of",
            job.simulatedFrom === "" ? undefined : <JobLink key="live" projectId={projectId} id={job.simulatedFrom} />,
          ],
          ["Program hash", <Copyable key="hash" text={programHash} what="hash" />],
        ]}
      />
    </Section>
  );
}

const stepsLookMs = 2_000;

/** Draws the requests that the writes of a simulated job would have sent: the number for each step, and the first ten for each call. */
export function Simulation({ jobId }: { jobId: string }) {
  const list = useQuery(JobsService.method.listSteps, { jobId }, { refetchInterval: stepsLookMs });
  const steps = list.data?.steps.filter(({ simulatedWrites }) => simulatedWrites > 0) ?? [];
  return (
    <Section title="Writes that the dry run did not send">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && steps.length === 0 && <p>No writes, or their data is deleted.</p>}
      {steps.map(({ stepId, simulatedWrites, simulatedCalls }) => (
        <div key={stepId}>
          <h3>
            {stepId}: {simulatedWrites}
          </h3>
          <ul>
            {simulatedCalls.map(({ callId, ordinal, toolSlug, entityId, argumentsJson }) => (
              <li key={`${callId} ${ordinal}`}>
                <Disclosure
                  summary={
                    <>
                      row {ordinal} <b>{toolSlug}</b> as {entityId}
                    </>
                  }
                >
                  <CodeBlock
                    text={argumentsJson === "" ? "too long to store" : prettyJson(argumentsJson)}
                    what="arguments"
                  />
                </Disclosure>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}
