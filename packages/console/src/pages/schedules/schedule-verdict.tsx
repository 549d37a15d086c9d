import type { PreviewStandingProgramResponse } from "@svc/gen/standing";
import { GroupFaults } from "../../ui/fields/field-group.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { FaultList, NoteList } from "../../ui/notice/fault-list.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { localWords, matchedWords } from "../../words/standing.ts";
import { estimateFacts } from "../programs/check-words.ts";
import type { Draft } from "./draft.ts";
import type { ScheduleCheck } from "./use-schedule-check.ts";

/**
 * Draws the result of the service's check of a schedule's definition. If the schedule's definition has errors, draws them. Otherwise draws
 * the next runs and the maximum effects of a run.
 */
export function ScheduleVerdict({
  check: { faults, preview, isCurrent },
  draft,
  onGoTo,
}: {
  check: ScheduleCheck;
  draft: Draft;
  onGoTo: (offset: number) => void;
}) {
  const atFields = Object.keys(faults.at).length;
  const count = atFields + faults.program.length + faults.rest.length;
  if (count > 0) {
    return (
      <Section title={`${count} ${count === 1 ? "problem" : "problems"}${isCurrent ? "" : ", checking"}`}>
        {atFields > 0 && <p>{atFields === 1 ? "See the marked field." : `See the ${atFields} marked fields.`}</p>}
        <GroupFaults faults={faults.rest} />
        <FaultList faults={faults.program} onGoTo={onGoTo} />
      </Section>
    );
  }
  return preview === undefined ? null : <Preview preview={preview} draft={draft} />;
}

function Preview({ preview, draft }: { preview: PreviewStandingProgramResponse; draft: Draft }) {
  const { nextTimes, estimate, needsApproval, notes } = preview;
  const zone = draft.timeZone || "UTC";
  return (
    <>
      <Section title="Next runs">
        {draft.by === "trigger" ? (
          <p>{matchedWords(preview)}</p>
        ) : nextTimes.length === 0 ? (
          <p>{draft.by === "poll" ? "The first poll is right after you create it." : "It never runs."}</p>
        ) : (
          <>
            <p>Time zone: {zone}:</p>
            <ol>
              {nextTimes.map(({ local }) => (
                <li key={local}>
                  <time>{localWords(local)}</time>
                </li>
              ))}
            </ol>
          </>
        )}
      </Section>
      <Notice
        tone={needsApproval ? "warn" : "ok"}
        icon={needsApproval ? "lock" : "check"}
        title={needsApproval ? "It needs one approval before it runs" : "No approval needed"}
      >
        {needsApproval && <p>Only the key that creates it can approve it, and the key needs the approver role.</p>}
      </Notice>
      <NoteList notes={notes} />
      {estimate !== undefined && (
        <Section title="Estimated usage of a run">
          <Facts facts={estimateFacts(estimate)} />
        </Section>
      )}
    </>
  );
}
