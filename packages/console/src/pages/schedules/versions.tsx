import type { StandingVersion } from "@svc/gen/standing";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { JobLink } from "../jobs/job-link.tsx";
import { changedWords } from "./version-words.ts";

/** The versions of a schedule, the newest first, each with what is another in it than in the one before. */
export function Versions({
  versions,
  current,
  projectId,
}: {
  versions: readonly StandingVersion[];
  current: number;
  projectId: string;
}) {
  const sorted = [...versions].sort((a, b) => b.version - a.version);
  return (
    <Section title="Versions">
      <ul>
        {sorted.map((version, index) => (
          <li key={version.version}>
            <Disclosure
              summary={
                <>
                  <b>{version.version}</b>
                  <span>{changedWords(version, sorted[index + 1])}</span>
                  {version.version === current && <span>runs</span>}
                </>
              }
            >
              <Facts
                facts={[
                  ["Made", <Time key="made" at={version.createdAt} />],
                  ["By key", <code key="key">{version.keyId}</code>],
                  ["Why", version.note === "" ? undefined : version.note],
                  ["Approval", version.approval === "" ? "needs none" : version.approval],
                  [
                    "Asked by",
                    version.jobId === "" ? undefined : <JobLink key="job" projectId={projectId} id={version.jobId} />,
                  ],
                  ["Program", <code key="program">{version.programHash}</code>],
                  ["Definition", <code key="definition">{version.definitionHash}</code>],
                ]}
              />
            </Disclosure>
          </li>
        ))}
      </ul>
    </Section>
  );
}
