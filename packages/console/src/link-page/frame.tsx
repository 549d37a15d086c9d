import type { ReactNode } from "react";
import type { Refusal } from "../session/page-post.ts";
import { PlainButton } from "../ui/buttons/plain-button.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { sentence } from "../words/sentence.ts";
import styles from "./frame.module.css";

/** What is around the page of a link: one card, wide enough to read and as narrow as a phone. */
export function LinkFrame({ children }: { children: ReactNode }) {
  return (
    <div className={styles["screen"]}>
      <header className={styles["brand"]}>
        <img src="./icon.svg" alt="" width={20} height={20} />
        svc
      </header>
      <main className={styles["card"]}>{children}</main>
    </div>
  );
}

/** Stands there until the service has answered. */
export function LinkWaits() {
  return <h1>One moment…</h1>;
}

/** A link that opens nothing: why, and whom to ask. Where the service only could not be reached, trying again may help. */
export function DeadLink({ refusal: { message, help, reason }, onRetry }: { refusal: Refusal; onRetry: () => void }) {
  const isDead = reason === "LINK_INVALID";
  return (
    <Stack>
      <title>This link opens nothing · svc</title>
      <h1>{isDead ? "This link opens nothing" : "This did not work"}</h1>
      <div role="alert">
        <Notice tone={isDead ? "warn" : "bad"} title={sentence(message)}>
          <p>{help}</p>
        </Notice>
      </div>
      {!isDead && <PlainButton onPress={onRetry}>Try again</PlainButton>}
    </Stack>
  );
}

/** The page without a link's secret: opened by hand, or loaded again. */
export function NoAnswer({ purpose }: { purpose: string }) {
  return (
    <Stack>
      <title>Open the link again · svc</title>
      <h1>Open the link again</h1>
      <p>
        {`A link to this page ${purpose}. Its secret stands behind the # of its address, and is taken out when it is opened, so that nobody finds it later.`}
      </p>
      <p>Open the link that you were sent once more. Opening it changes nothing.</p>
    </Stack>
  );
}
