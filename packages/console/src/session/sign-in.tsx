import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../ui/buttons/button.tsx";
import { TextField } from "../ui/fields/field.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { CodeBlock } from "../ui/values/copy.tsx";
import { pageWords } from "../words/page-words.ts";
import { sentence } from "../words/text.ts";
import { consoleBase, hasCompanyAccounts, serviceBase } from "./base.ts";
import { enter } from "./enter.ts";
import type { PageRefusal } from "./page-post.ts";
import { currentSession, seatFor } from "./session.ts";
import styles from "./sign-in.module.css";
import { setSignInNeeded, useSignInNeed } from "./sign-in-need.ts";

/** Draws the page for users who are not signed in. The address does not change, so the wanted page opens after the sign-in. */
export function SignInPage({
  title = "Sign in to svc",
  says,
  onEntered,
  back,
}: {
  title?: string;
  says?: string;
  onEntered?: () => void;
  /** A link back to the console, for users who are already signed in. */
  back?: ReactNode;
}) {
  return (
    <main className={styles["screen"]}>
      <title>{`${title} · svc`}</title>
      <div className={styles["card"]}>
        <h1>{title}</h1>
        {says !== undefined && <p>{says}</p>}
        <SignInForm onEntered={onEntered} />
        {back}
      </div>
    </main>
  );
}

/**
 * Draws the sign-in over the page after a call was answered 401, so that the user loses neither the address nor the input. After the
 * sign-in, the page sends its reads again.
 */
export function SignInOverlay({ projectId }: { projectId: string }) {
  const { isNeeded } = useSignInNeed();
  const queries = useQueryClient();
  return (
    <Dialog open={isNeeded} onClose={() => setSignInNeeded(false)} title="Sign in again" hideOnInteractOutside={false}>
      <p>The session has ended, or its key was revoked. This page continues when you are signed in.</p>
      <SignInForm projectId={projectId} onEntered={() => void queries.invalidateQueries()} />
    </Dialog>
  );
}

/**
 * Draws the form that asks for a key. If `projectId` is given, the key must be a key of this project, because the open page cannot continue
 * with another project.
 */
function SignInForm({
  projectId,
  onEntered,
}: {
  projectId?: string | undefined;
  onEntered?: (() => void) | undefined;
}) {
  const { linkRefusal } = useSignInNeed();
  const [key, setKey] = useState("");
  const [ofKey, setRefusal] = useState<PageRefusal>();
  const refusal = ofKey ?? linkRefusal;
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsBusy(true);
    const refused =
      (await enter({ key: key.trim() })) ?? (projectId === undefined ? undefined : seatRefusal(projectId));
    setIsBusy(false);
    setRefusal(refused);
    if (refused !== undefined) return;
    setSignInNeeded(false);
    onEntered?.();
  };
  return (
    <form className={styles["form"]} onSubmit={(event) => void submit(event)}>
      {refusal !== undefined && (
        <div role="alert">
          <Notice tone="bad" title={sentence(refusal.message)}>
            {pageWords(refusal.help)}
          </Notice>
        </div>
      )}
      {hasCompanyAccounts && (
        <a
          className={styles["company"]}
          href={`${serviceBase}/sign-in/start?to=${encodeURIComponent(pathInConsole())}`}
        >
          Sign in with your company account
        </a>
      )}
      <TextField
        label="API key"
        type="password"
        autoComplete="current-password"
        required
        mono
        value={key}
        onChange={setKey}
        hint="A key of a project, or the administrator's token. The browser sends it once and does not store it."
      />
      <Button kind="primary" type="submit" icon="key" busy={isBusy ? "Signing in" : undefined}>
        Sign in
      </Button>
      <div className={styles["hint"]}>
        <p>Or let the command line open this page signed in:</p>
      </div>
      <CodeBlock text="npx svc console" />
    </form>
  );
}

/** Returns the path of the open page within the console, to which the sign-in with a company account comes back. */
function pathInConsole(): string {
  return location.pathname.slice(consoleBase.pathname.length);
}

/** Returns the refusal to show if a sign-in succeeded but added no seat (key) for the page's project; undefined otherwise. */
function seatRefusal(projectId: string): PageRefusal | undefined {
  if (seatFor(currentSession(), projectId) !== undefined) return undefined;
  const [message, reason, field] = ["That key belongs to another project.", "SEAT_MISSING", ""];
  const wanted = projectId === "admin" ? "the administrator's token" : `a key of project ${projectId}`;
  return { message, help: `Sign in with ${wanted}. You stay signed in to the other project.`, reason, field };
}
