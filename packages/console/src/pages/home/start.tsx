import type { GetStartResponse } from "@svc/gen/stats";
import { getRouteApi } from "@tanstack/react-router";
import { setPreferences, usePreferences } from "../../shell/preferences.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { AgentCard } from "./agent-card.tsx";
import { aims, doneSteps, type FirstStep, stepsDone, stepsMax } from "./first-steps.ts";
import { ListLink } from "./list-link.tsx";
import { ProgramCard } from "./program-card.tsx";
import styles from "./start.module.css";
import type { CardProperties } from "./start-card.tsx";
import { ToolCard } from "./tool-card.tsx";
import { WebhookCard } from "./webhook-card.tsx";

const route = getRouteApi("/p/$projectId/home");

const cards: Readonly<Record<FirstStep, (properties: CardProperties) => React.ReactNode>> = {
  webhook: WebhookCard,
  tool: ToolCard,
  program: ProgramCard,
  agent: AgentCard,
};

/** Draws the first steps of a project: four cards, each with one button that does the whole step. */
export default function Start({ projectId, start }: { projectId: string; start: GetStartResponse }) {
  const navigate = route.useNavigate();
  const { aim } = usePreferences();
  const done = doneSteps(start);
  // A press keeps the cards in the address, because the page would otherwise show the activity when it is loaded again.
  const stay = () => void navigate({ search: (old) => ({ ...old, view: "start" }), replace: true });
  const hide = () => {
    setPreferences({ hidesStart: true });
    void navigate({ search: (old) => ({ ...old, view: undefined }), replace: true });
  };
  return (
    <Page
      title="Home"
      actions={
        <Button kind="quiet" onPress={hide}>
          Hide this page
        </Button>
      }
    >
      <div className={styles["hero"]}>
        <div>
          <h2 className={styles["heading"]}>Connect apps, agents and your code</h2>
          <p className={styles["lead"]}>
            svc receives webhooks, calls apps for your agents, and runs programs that ask a person before they do
            something risky.{" "}
            {start.sandbox
              ? "Try all four below: the sandbox plays the apps, so nothing real happens."
              : "This deployment calls real apps, so each card says what it needs first."}
          </p>
        </div>
        <div className={styles["progress"]}>
          <div className={styles["bars"]} aria-hidden>
            {Object.entries(done).map(([step, isDone]) => (
              <i key={step} className={isDone ? styles["full"] : undefined} />
            ))}
          </div>
          {stepsDone(start)} of {stepsMax} done
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a border and a legend */}
      <div role="group" aria-label="I'm here to" className={styles["aims"]}>
        <span aria-hidden>I'm here to</span>
        {Object.entries(aims).map(([name, { words }]) => (
          <ToggleButton key={name} on={name === aim} onPress={() => setPreferences({ aim: name as typeof aim })}>
            {words}
          </ToggleButton>
        ))}
      </div>
      <div className={styles["grid"]}>
        {aims[aim].order.map((step) => {
          const Card = cards[step];
          return <Card key={step} {...{ projectId, start, isDone: done[step], onPress: stay }} />;
        })}
      </div>
      <Line>
        <span className={styles["quiet"]}>Next:</span>
        {aims[aim].next.map(({ words, to }) => (
          <ListLink key={words} list={{ to, search: {} }} projectId={projectId}>
            {words}
          </ListLink>
        ))}
      </Line>
      <div className={styles["terminal"]}>
        <span className={styles["quiet"]}>Prefer a terminal?</span>
        <CodeBlock text={start.sandbox ? "npx svc sandbox event" : "npx svc listen"} />
        <span className={styles["quiet"]}>This page stays under Help: press ? and choose First steps.</span>
      </div>
    </Page>
  );
}
