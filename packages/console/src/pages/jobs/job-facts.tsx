import type { Job } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { KeyName } from "../../session/key-name.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { ScheduleLink } from "../schedules/schedule-link.tsx";
import { JobLink } from "./job-link.tsx";

/** What is known of a job besides how far it is. */
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
              its calls in the ledger
            </Link>,
          ],
          ["Skill", skillSlug === "" ? undefined : skillSlug],
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
