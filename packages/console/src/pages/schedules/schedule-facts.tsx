import type { StandingProgram } from "@svc/gen/standing";
import { Link } from "@tanstack/react-router";
import { KeyName } from "../../session/key-name.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";

/** What is known of a schedule. */
export function ScheduleFacts({ program, projectId }: { program: StandingProgram; projectId: string }) {
  const { id, slug, version, pendingVersion, sourceKind, nextTimes, counts, usedToday, keyId } = program;
  return (
    <Section title="Schedule">
      <Facts
        facts={[
          ["Id", <Copyable key="id" text={id} what="id" />],
          ["Name", slug],
          ["Version", pendingVersion === 0 ? version : `${version}; ${pendingVersion} waits for approval`],
          ["Started by", sourceKind],
          ["Next", nextTimes.length === 0 ? undefined : <NextTimes key="next" times={nextTimes} />],
          [
            "Started",
            counts === undefined ? undefined : `${counts.started}, ${counts.skipped} skipped, ${counts.missed} missed`,
          ],
          ["Failed in a row", counts?.failuresInRow],
          ["Under way", counts === undefined ? undefined : `${counts.underWay}, ${counts.queued} queued`],
          [
            "Used today",
            usedToday === undefined
              ? undefined
              : `${usedToday.runs} runs, ${usedToday.toolCalls} calls, ${usedToday.writes} writes`,
          ],
          ["By key", <KeyName key="key" id={keyId} />],
          [
            "Asks",
            <Link key="asks" to="/p/$projectId/asks" params={{ projectId }} search={{ schedule: id }}>
              those of its jobs
            </Link>,
          ],
        ]}
      />
    </Section>
  );
}

function NextTimes({ times }: { times: StandingProgram["nextTimes"] }) {
  return (
    <ul>
      {times.map((at) => (
        <li key={String(at.seconds)}>
          <Time at={at} />
        </li>
      ))}
    </ul>
  );
}
