import { type Ask, AskState, JobsService } from "@svc/gen/jobs";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { DetailPage } from "../../frame/detail-page.tsx";
import { KeyName } from "../../session/key-name.tsx";
import { seatFor, useSession } from "../../session/session.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock, Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { askStateWord, splitQuestion } from "../../words/asks.ts";
import { isConfirmation } from "../../words/continuations.ts";
import { readConfirmation } from "../../words/linked-answers.ts";
import { visible } from "../../words/text.ts";
import { FiguresSection } from "../jobs/figures-section.tsx";
import { JobLink } from "../jobs/job-link.tsx";
import { jobTitle } from "../jobs/job-words.ts";
import { ReceiptFacts } from "../jobs/receipt-section.tsx";
import { useJob } from "../jobs/use-job.ts";
import { AskBody } from "./ask-body.tsx";
import { planKeyOf } from "./may-answer.ts";
import { Plan } from "./plan.tsx";
import { useAsk } from "./use-ask.ts";

const route = getRouteApi("/p/$projectId/asks/$jobId/$askId");

/**
 * Draws one question: its text, its current contact, and the effect of each answer. For an approval, the complete plan is shown above the
 * buttons.
 */
export default function AskPage() {
  const { projectId, jobId, askId } = route.useParams();
  const asked = useAsk(jobId, askId);
  const found = useJob(jobId);
  const ask = asked.data?.ask;
  const job = found.data?.job;
  const seat = seatFor(useSession(), projectId);
  const isApproval = ask !== undefined && ask.approvalId !== "";
  const confirms = ask !== undefined && isConfirmation(ask);
  const call = confirms ? readConfirmation(ask.question) : undefined;
  const isPlan = isApproval || (confirms && call === undefined);
  const [heading, more] = isPlan
    ? splitQuestion(ask?.question ?? "")
    : [call?.asks ?? ask?.question, call?.asker ?? ""];
  const isOwn = confirms && job !== undefined && planKeyOf(job) === seat?.keyId;
  const whyOwn = isOwn ? "Your key created this call, so another key has to confirm it." : undefined;
  return (
    <DetailPage
      title={heading ?? "Question"}
      tab={`Ask ${askId}`}
      state={ask !== undefined && <State word={askStateWord(ask.state)} />}
      list={{ to: "/p/$projectId/asks", words: "Approvals" }}
      query={{ error: asked.error ?? found.error, isPending: asked.isPending, refetch: asked.refetch }}
      strip={{ id: askId, state: `${ask?.state}`, failure: undefined }}
    >
      {more !== "" && <p>{visible(more ?? "")}</p>}
      {ask !== undefined && (
        <Columns>
          <Stack>
            {call !== undefined && (
              <Section title="With these arguments" boxed>
                <CodeBlock text={call.args} what="arguments" />
              </Section>
            )}
            {isPlan && job !== undefined && (
              <>
                <Section title="Exactly what will run" boxed>
                  <Plan programJson={job.programJson} />
                </Section>
                <FiguresSection job={job} simulation={found.data?.simulation} />
                {job.estimate !== undefined && job.estimate.notCompensable.length > 0 && (
                  <p>Can't be undone: {job.estimate.notCompensable.join(", ")}.</p>
                )}
              </>
            )}
            <Section title={isApproval || confirms ? "Decide" : "Answer"} boxed>
              <AskBody ask={ask} job={job} projectId={projectId} />
            </Section>
          </Stack>
          <Stack>
            <Section title="Question">
              <Facts
                facts={[
                  ["Id", <Copyable key="id" text={ask.requestId} what="id" />],
                  ["Decision", ask.pointId],
                  [
                    "Step",
                    ask.stepId !== "" ? ask.stepId : call === undefined ? "none: the plan as a whole" : undefined,
                  ],
                  ["Asked", <Time key="at" at={ask.askedAt} />],
                  ["Reached by", ask.toolSlug || undefined],
                  ["Published", ask.delivery || undefined],
                  [
                    "Made by key",
                    !confirms || job === undefined ? undefined : <KeyName key="by" id={planKeyOf(job)} />,
                  ],
                  ["Job", <JobLink key="job" projectId={projectId} id={ask.jobId} />],
                  ["Title", job === undefined ? undefined : jobTitle(job)],
                  [
                    "Program hash",
                    !isApproval || job === undefined ? undefined : (
                      <Copyable key="hash" text={job.programHash} what="hash" />
                    ),
                  ],
                ]}
              />
            </Section>
            {!isApproval && ask.state === AskState.PENDING && <AnswerLink ask={ask} why={whyOwn} />}
            {ask.simulationReceipt !== undefined && (
              <Section title="Receipt of the simulation">
                <ReceiptFacts receipt={ask.simulationReceipt} />
              </Section>
            )}
          </Stack>
        </Columns>
      )}
    </DetailPage>
  );
}

/**
 * Makes a link with which a contact without a key can answer this one question. Every person who has the link can answer, with the
 * authority of the user's key.
 */
function AnswerLink({
  ask: { jobId, requestId, deliveredPrincipals },
  why,
}: {
  ask: Ask;
  /**
   * Reason why the user's key may not create an answer link (a link through which a contact answers this question). Undefined if the key
   * may create one.
   */
  why: string | undefined;
}) {
  const [principalId, setPrincipalId] = useState(deliveredPrincipals[0] ?? "");
  const make = useWrite(JobsService.method.createAnswerLink);
  const made = make.answer;
  return (
    <Section title="For someone without a key">
      <p>A link to this question only. Everyone who has the link can answer, with the permission of your key.</p>
      <Line>
        <Choice
          label="For"
          value={principalId}
          options={deliveredPrincipals.map((id) => ({ value: id, words: id }))}
          onChange={(id) => {
            setPrincipalId(id);
            make.reset();
          }}
        />
        <Button
          icon="key"
          why={why}
          busy={make.isSending ? "Making" : undefined}
          onPress={() => make.send({ jobId, requestId, principalId })}
        >
          Make a link
        </Button>
      </Line>
      <FaultNotice error={make.error} />
      {made !== undefined && (
        <>
          <CodeBlock text={made.url} what="link" />
          <p>
            Shown once. It ends <Time at={made.expiresAt} />, or with the question.
          </p>
        </>
      )}
    </Section>
  );
}
