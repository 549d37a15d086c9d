import { SandboxService } from "@svc/gen/sandbox";
import { StatsService } from "@svc/gen/stats";
import { type CallToolResponse, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { outcomeWord } from "../../words/calls.ts";
import { snippet, snippetKinds } from "../tools/try/snippets.ts";
import { sampleMessage, sampleUser } from "./first-steps.ts";
import { ToolPicture } from "./pictures.tsx";
import styles from "./start.module.css";
import { CardLink, type CardProperties, StartCard } from "./start-card.tsx";

const toolSlug = "messaging_bot.send_message";

/** Draws the card of a new project that shows how to call a tool. In the sandbox, one press connects an account and calls a tool. */
export function ToolCard({ projectId, start, isDone, onPress }: CardProperties) {
  const refresh = useRefresh(StatsService);
  const [message, setMessage] = useState(sampleMessage);
  const connect = useWrite(SandboxService.method.connectSandboxAccounts);
  const call = useWrite(ToolsService.method.callTool, { onSuccess: () => void refresh() });
  const argumentsJson = JSON.stringify({ chat_id: "@team", text: message });
  const press = async () => {
    onPress();
    await connect.sendAsync({ entityId: sampleUser, toolkitSlugs: ["messaging_bot"] });
    await call.sendAsync({ toolSlug, entityId: sampleUser, argumentsJson, idempotencyKey: randomKey() });
  };
  const isBusy = connect.isSending || call.isSending;
  const frame = {
    title: "Call a tool",
    icon: "tool",
    colour: "call",
    isDone,
    picture: <ToolPicture />,
    says: "One call for every action of every app. You can see the exact request before svc sends it.",
  } as const;
  if (!start.sandbox)
    return (
      <StartCard
        {...frame}
        note="Needs an account of a real app. Connect one, then call a tool on its page."
        result={null}
      >
        <CardLink to="/p/$projectId/accounts" params={{ projectId }} isMain>
          Connect an account
        </CardLink>
        <CardLink to="/p/$projectId/tools" params={{ projectId }}>
          Browse tools
        </CardLink>
      </StartCard>
    );
  return (
    <StartCard
      {...frame}
      isTall
      note={`Connects a sandbox account named “${sampleUser}” for you. No password needed.`}
      result={
        <>
          <TextField label="Message" value={message} onChange={setMessage} />
          <FaultNotice error={connect.error ?? call.error} />
          {call.answer !== undefined && (
            <Called
              answer={call.answer}
              // The code shows the call that was made, also if the user has typed another text since.
              code={{
                toolSlug,
                entityId: sampleUser,
                argumentsJson: call.sent?.argumentsJson ?? argumentsJson,
                url: start.publicUrl,
              }}
            />
          )}
        </>
      }
    >
      <Button
        kind="primary"
        icon="send"
        busy={isBusy ? "Sending" : undefined}
        onPress={() => void press().catch(() => undefined)}
      >
        Send it
      </Button>
      <CardLink to="/p/$projectId/tools" params={{ projectId }}>
        Browse tools
      </CardLink>
    </StartCard>
  );
}

type CodeCall = Omit<Parameters<typeof snippet>[1], "isDestructive">;

const snippetTitles = { cli: "Command line", curl: "curl", typescript: "TypeScript", mcp: "MCP" } as const;

/** Draws the result of the call, and the same call as code. */
function Called({ answer: { outcome, resultJson, message }, code }: { answer: CallToolResponse; code: CodeCall }) {
  return (
    <>
      <div className={styles["row"]}>
        <b>{toolSlug}</b>
        <span className={styles["glance"]}>{resultJson || message}</span>
        <State word={outcomeWord(outcome)} />
      </div>
      <Disclosure summary="The same call as code" flat>
        <Stack>
          {snippetKinds.map((kind) => (
            <div key={kind}>
              <p>{snippetTitles[kind]}</p>
              <CodeBlock text={snippet(kind, { ...code, isDestructive: false })} what={snippetTitles[kind]} />
            </div>
          ))}
        </Stack>
      </Disclosure>
    </>
  );
}
