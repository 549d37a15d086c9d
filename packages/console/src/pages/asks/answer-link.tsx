import { type Ask, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Makes a link by which a contact without a key answers this one question. Whoever holds it answers; this seat's key vouches. */
export function AnswerLink({
  ask: { jobId, requestId, deliveredPrincipals },
  why,
}: {
  ask: Ask;
  /** Why this seat may make none; undefined where it may. */
  why: string | undefined;
}) {
  const [principalId, setPrincipalId] = useState(deliveredPrincipals[0] ?? "");
  const make = useWrite(JobsService.method.createAnswerLink);
  const made = make.answer;
  return (
    <Section title="For somebody without a key">
      <p>A link to this question alone. Whoever holds it may answer, and this seat's key vouches for that.</p>
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
