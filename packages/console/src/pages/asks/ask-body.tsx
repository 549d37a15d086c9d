import { type Ask, AskState, type Job } from "@svc/gen/jobs";
import { Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { KeyName } from "../../session/key-name.tsx";
import { buttonClass } from "../../ui/buttons/button.tsx";
import { classNames } from "../../ui/class-names.ts";
import { JsonView } from "../../ui/code/json-view.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { Time } from "../../ui/values/time.tsx";
import { clockWords, decisionWords, ladderRungs } from "../../words/asks.ts";
import { AnswerForm } from "./answer-form.tsx";
import styles from "./ask-body.module.css";

const icons = { past: "check", holds: "arrowRight", coming: "clock" } as const;

/**
 * Draws the contacts of a question: those asked before, the one asked now, and those asked next. Also draws the time left to answer, and
 * what happens if the time passes without an answer.
 */
function Ladder({ ask }: { ask: Ask }) {
  const now = useNow();
  return (
    <>
      <ol className={styles["ladder"]}>
        {ladderRungs(ask, now).map(({ principalId, says, state }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: contacts never change their order in this list
          <li key={index} className={classNames(styles["rung"], state === "holds" && styles["holds"])}>
            <Icon name={icons[state]} />
            <span>
              <b>{principalId}</b> {says}
            </span>
          </li>
        ))}
      </ol>
      {ask.state === AskState.PENDING && <p className={styles["clock"]}>{clockWords(ask)}</p>}
    </>
  );
}

/**
 * Draws the content of a question, and below it the contacts who are asked in turn. A pending question has the form that answers it; a
 * settled question has the decision. `wide`: true to draw the contacts next to the content.
 */
export function AskBody({
  ask,
  job,
  projectId,
  wide = false,
}: {
  ask: Ask;
  job: Job | undefined;
  projectId: string;
  wide?: boolean;
}) {
  const Frame = wide ? Columns : Stack;
  return (
    <Frame>
      {ask.state === AskState.PENDING ? (
        <AnswerForm ask={ask} job={job} projectId={projectId} />
      ) : (
        <Settled ask={ask} projectId={projectId} />
      )}
      <Section title="Who is asked">
        <Ladder ask={ask} />
      </Section>
    </Frame>
  );
}

function Settled({ ask: { jobId, decision, state, approvalId }, projectId }: { ask: Ask; projectId: string }) {
  if (decision === undefined) {
    return (
      <Notice
        tone="plain"
        title={state === AskState.WITHDRAWN ? "Withdrawn: the job ended before an answer" : "Answered"}
      />
    );
  }
  const { note, overridesJson, keyId, linkId, surface, at } = decision;
  return (
    <Notice
      tone="info"
      icon="check"
      title={`${decisionWords(decision, approvalId !== "")}.`}
      actions={
        <Link to="/p/$projectId/jobs/$jobId" params={{ projectId, jobId }} className={buttonClass()}>
          See what the job did
        </Link>
      }
    >
      <p>
        <Time at={at} />
        {keyId !== "" && (
          <>
            , vouched for by the key <KeyName id={keyId} />
          </>
        )}
        {linkId !== undefined && `, by the link ${linkId}`}
        {surface !== "api" && surface !== "timeout" && `, on the delivery ${surface}`}.
      </p>
      {note !== "" && <p>“{note}”</p>}
      {overridesJson !== "" && <JsonView text={overridesJson} label="changes" />}
    </Notice>
  );
}
