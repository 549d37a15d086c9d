import type { JobAttempt } from "@svc/gen/jobs";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { jobStatusWord } from "../../words/jobs.ts";
import { ReceiptFacts } from "./receipt-section.tsx";

/** The attempts before this one, each with its receipt, which is final. */
export function Attempts({ attempts }: { attempts: readonly JobAttempt[] }) {
  return (
    <Section title="Attempts before">
      <ul>
        {attempts.map(({ attempt, status, finishedAt, lastError, receipt, retryKeyId }) => (
          <li key={attempt}>
            <Disclosure
              summary={
                <>
                  <b>Attempt {attempt}</b>
                  <State word={jobStatusWord(status)} />
                  <Time at={finishedAt} />
                </>
              }
            >
              {lastError !== "" && <p>{lastError}</p>}
              {receipt !== undefined && <ReceiptFacts receipt={receipt} />}
              <p>Taken on by key {retryKeyId}.</p>
            </Disclosure>
          </li>
        ))}
      </ul>
    </Section>
  );
}
