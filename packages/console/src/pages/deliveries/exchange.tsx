import type { DeliveryAttempt } from "@svc/gen/triggers";
import { classNames } from "../../ui/class-names.ts";
import { attemptErrorWords } from "../../words/deliveries.ts";
import { visible } from "../../words/text.ts";
import { durationWords } from "../../words/time.ts";
import styles from "./exchange.module.css";

/** Largest number of characters of a body that are drawn. A longer body is whole in the command that Copy as curl gives. */
const shownMax = 4_000;

/** Draws the request and the answer of one attempt. `body`: body of the request; empty if it is not known. */
export function Exchange({ attempt, body }: { attempt: DeliveryAttempt; body: string }) {
  const { requestUrl, requestHeaders, error, statusCode, durationMs, responseHeaders, responseBody, address } = attempt;
  const hasFailed = error !== "";
  return (
    <div className={styles["exchange"]}>
      <Part
        label={`Request of attempt ${attempt.number}`}
        head={`POST ${requestUrl}`}
        headers={requestHeaders}
        body={body}
      />
      <Part
        label={`Answer to attempt ${attempt.number}`}
        isBad={hasFailed}
        head={
          statusCode === 0
            ? attemptErrorWords(error)
            : `${statusCode}, ${durationWords(durationMs)}${address === "" ? "" : `, from ${address}`}`
        }
        headers={responseHeaders}
        body={responseBody}
      />
    </div>
  );
}

function Part({
  label,
  head,
  headers,
  body,
  isBad = false,
}: {
  label: string;
  head: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  isBad?: boolean;
}) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <section className={classNames(styles["part"], isBad && styles["bad"])} aria-label={label}>
      <p className={styles["head"]}>
        <bdi>{visible(head)}</bdi>
      </p>
      {lines.length > 0 && <pre className={styles["headers"]}>{visible(lines.join("\n"))}</pre>}
      {body !== "" && (
        <pre className={styles["body"]}>
          {visible(body.slice(0, shownMax))}
          {body.length > shownMax && `\n… ${(body.length - shownMax).toLocaleString("en")} more characters`}
        </pre>
      )}
    </section>
  );
}
