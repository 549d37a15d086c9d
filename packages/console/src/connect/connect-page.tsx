import { type FormEvent, useState } from "react";
import type { PageRefusal, PostAnswer } from "../session/page-post.ts";
import { Button } from "../ui/buttons/button.tsx";
import { TextField } from "../ui/fields/field.tsx";
import { Disclosure } from "../ui/layout/disclosure.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { Moment } from "../ui/values/moment.tsx";
import { scopeWords, sentence } from "../words/text.ts";
import { connectOf, type Filled, fieldsOf, schemeOf, type WantedAccount } from "./wanted.ts";

/**
 * Draws the form that connects an account. If the app needs consent, its consent page follows. The input is sent only to the service, and
 * is not kept in the browser.
 */
export function ConnectPage({ wanted, send }: { wanted: WantedAccount; send: (body: object) => Promise<PostAnswer> }) {
  const [filled, setFilled] = useState<Filled>({});
  const [state, setState] = useState<"open" | "sending" | "leaving" | "connected">("open");
  const [refusal, setRefusal] = useState<PageRefusal>();
  const { toolkitName, expiresAt } = wanted;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (state !== "open") return;
    setState("sending");
    const sent = await send({ connect: connectOf(wanted, filled) });
    if ("refusal" in sent) {
      setRefusal(sent.refusal);
      return setState("open");
    }
    const { authorizeUrl } = sent.answer as { authorizeUrl: string };
    setRefusal(undefined);
    setFilled({});
    setState(authorizeUrl === "" ? "connected" : "leaving");
    if (authorizeUrl !== "") location.assign(authorizeUrl);
  };
  if (state === "connected") return <Connected toolkitName={toolkitName} />;
  const isConsent = schemeOf(wanted) === "oauth2";
  const fields = fieldsOf(wanted);
  const isPlaced = fields.some(({ at }) => at === refusal?.field);
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <title>{`Connect ${toolkitName} · svc`}</title>
        <h1>{`Connect your ${toolkitName} account`}</h1>
        <p>
          {isConsent
            ? `You sign in at ${toolkitName} and agree there. Your password is not shared with this page.`
            : "Your entries are stored encrypted. The person who sent you this link does not see them."}
        </p>
        {fields.map(({ at, label, hint, example, isSecret }) => (
          <TextField
            key={at}
            label={label}
            hint={hint === "" ? undefined : hint}
            placeholder={example}
            required
            type={isSecret ? "password" : "text"}
            autoComplete="off"
            value={filled[at] ?? ""}
            onChange={(value) => setFilled({ ...filled, [at]: value })}
            fault={refusal?.field === at ? sentence(refusal.message) : undefined}
          />
        ))}
        {isConsent && <Scopes scopes={wanted.spec.authSchemes[0]?.defaultScopes ?? []} toolkitName={toolkitName} />}
        {refusal !== undefined && (
          <div role="alert">
            <Notice tone="bad" title={isPlaced ? "The account was not connected." : sentence(refusal.message)}>
              <p>{refusal.help}</p>
            </Notice>
          </div>
        )}
        <Button kind="primary" type="submit" icon="plug" busy={busyWord(state)}>
          {isConsent ? `Continue to ${toolkitName}` : "Connect"}
        </Button>
        <p>
          This link is for one account. It works until <Moment at={expiresAt} />.
        </p>
      </Stack>
    </form>
  );
}

function busyWord(state: "open" | "sending" | "leaving"): string | undefined {
  return { open: undefined, sending: "Connecting", leaving: "Continuing" }[state];
}

function Connected({ toolkitName }: { toolkitName: string }) {
  return (
    <Stack>
      <title>{`${toolkitName} is connected · svc`}</title>
      <h1>{`${toolkitName} is connected`}</h1>
      <div role="status">
        <Notice tone="ok" title="Your account is connected.">
          <p>Nothing is left to do here; this page can be closed. The link is used up.</p>
        </Notice>
      </div>
    </Stack>
  );
}

/** Draws the scopes (permissions) that the app will be asked for, by the app's own names. */
function Scopes({ scopes, toolkitName }: { scopes: readonly string[]; toolkitName: string }) {
  if (scopes.length === 0) return null;
  return (
    <Disclosure summary={`What ${toolkitName} is asked for (${scopes.length})`}>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>
            <code>{scopeWords(scope)}</code>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
