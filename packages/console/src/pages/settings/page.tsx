import { useQuery } from "@connectrpc/connect-query";
import { ConsoleService, type ConsoleSession } from "@svc/gen/console";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { getRouteApi } from "@tanstack/react-router";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { type Preferences, setPreferences, usePreferences } from "../../shell/preferences.ts";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { CheckField } from "../../ui/fields/field.tsx";
import { OptionsField } from "../../ui/fields/options-field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { Time } from "../../ui/values/time.tsx";
import { browserWords } from "../../words/browsers.ts";
import { roleWord } from "../../words/keys.ts";
import { zoneName } from "../../words/time.ts";
import { AgentKeys } from "./agent-keys.tsx";
import { CallLimits } from "./call-limits.tsx";
import { DeploymentFacts } from "./deployment-facts.tsx";
import { GrantItem } from "./grant-item.tsx";
import { Portal } from "./portal.tsx";
import { Secrets } from "./secrets.tsx";
import { Seats } from "./sessions.tsx";

const themes: readonly { value: Preferences["theme"]; words: string }[] = [
  { value: "system", words: "System" },
  { value: "light", words: "Light" },
  { value: "dark", words: "Dark" },
];

/** Draws the settings that only this browser stores. */
function BrowserSettings() {
  const { theme, zone, shortcuts } = usePreferences();
  const zones: readonly { value: Preferences["zone"]; words: string }[] = [
    { value: "local", words: `Local: ${zoneName("local")}` },
    { value: "utc", words: "UTC" },
  ];
  return (
    <Section title="This browser">
      <Stack>
        <OptionsField
          label="Theme"
          value={theme}
          options={themes}
          onChange={(value) => setPreferences({ theme: themes.find((one) => one.value === value)?.value ?? "system" })}
        />
        <OptionsField
          label="Time zone"
          value={zone}
          options={zones}
          onChange={(value) => setPreferences({ zone: value === "utc" ? "utc" : "local" })}
        />
        <CheckField
          label="Single-key shortcuts"
          checked={shortcuts}
          onChange={(on) => setPreferences({ shortcuts: on })}
          hint="Turn off if you use voice control. Press ? to see all shortcuts."
        />
      </Stack>
    </Section>
  );
}

const route = getRouteApi("/p/$projectId/settings");

/** Draws the signed-in key, the settings of this browser, and the limits of the project. */
export default function SettingsPage() {
  const { projectId } = route.useParams();
  const { tab = "you" } = route.useSearch();
  const navigate = route.useNavigate();
  const you = (
    <Stack>
      <WhoAmI />
      <Seats projectId={projectId} />
      <Sessions />
    </Stack>
  );
  const agents = (
    <Stack>
      <Grants projectId={projectId} />
      <AgentKeys projectId={projectId} />
    </Stack>
  );
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        selected={tab}
        onSelect={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: "you", words: "You", panel: you },
          { id: "browser", words: "This browser", panel: <BrowserSettings /> },
          { id: "agents", words: "Agents", panel: agents },
          { id: "secrets", words: "Secrets", panel: <Secrets projectId={projectId} /> },
          { id: "limits", words: "Call limits", panel: <CallLimits projectId={projectId} /> },
          { id: "portal", words: "Portal", panel: <Portal projectId={projectId} /> },
          { id: "deployment", words: "Deployment", panel: <DeploymentFacts /> },
        ]}
      />
    </Page>
  );
}

/** Draws facts about the key that this project's pages use, as the service reports them. */
function WhoAmI() {
  const identity = useQuery(IdentityService.method.getIdentity, {});
  const me = identity.data;
  return (
    <Section title="Your key">
      <FaultNotice error={identity.error} onRetry={() => void identity.refetch()} />
      {identity.isPending && <Skeleton rows={3} />}
      {me !== undefined && (
        <Facts
          facts={[
            ["Project", me.projectName],
            ["Project id", <Copyable key="project" text={me.projectId} what="project id" />],
            ["Key", me.keyName || "without a name"],
            ["Key id", <Copyable key="key" text={me.keyId} what="key id" />],
            ["Role", roleWord(me.role)],
          ]}
        />
      )}
    </Section>
  );
}

/**
 * Draws the permissions (grants) that people gave to agents. Active grants are shown first; expired ones are shown if the user asks for
 * them.
 */
function Grants({ projectId }: { projectId: string }) {
  const list = useRows(GrantsService.method.listGrants, { pageSize: 200 }, ({ grants }) => grants);
  const [held, ended] = [list.rows.filter(({ active }) => active), list.rows.filter(({ active }) => !active)];
  const items = (label: string, rows: typeof held) => (
    <Items label={label}>
      {rows.map((grant) => (
        <GrantItem key={grant.id} grant={grant} projectId={projectId} />
      ))}
    </Items>
  );
  return (
    <Section title="Connected agents">
      <ListStates list={list} skeletonRows={4} empty={<NoGrants />}>
        <Stack>
          {held.length > 0 ? items("Grants", held) : <p>No agent is connected now.</p>}
          {ended.length > 0 && (
            <Disclosure summary={ended.length === 1 ? "One has ended" : `${ended.length} have ended`}>
              {items("Disconnected agents", ended)}
            </Disclosure>
          )}
          <LoadMore list={list} />
        </Stack>
      </ListStates>
    </Section>
  );
}

function NoGrants() {
  return (
    <Empty icon="plug" title="No agent connected yet">
      <p>
        An agent that gets the address of this service's <code>/mcp</code>opens a page where a person chooses what it
        may do. Then the agent appears here.
      </p>
    </Empty>
  );
}

/**
 * Draws the list of browsers that are signed in to the open project with the same key as this browser. This browser is in the list too.
 * Each browser has a button that signs it out.
 */
function Sessions() {
  const list = useQuery(ConsoleService.method.listSessions, {});
  return (
    <Section title="Sessions of this key">
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={2} />}
      {list.data !== undefined && (
        <Items label="Sessions">
          {list.data.sessions.map((session) => (
            <SessionItem key={session.id} session={session} />
          ))}
        </Items>
      )}
    </Section>
  );
}

function SessionItem({ session: { id, userAgent, createdAt, usedAt, expiresAt } }: { session: ConsoleSession }) {
  const refresh = useRefresh(ConsoleService);
  const end = useWrite(ConsoleService.method.endSession, {
    onSuccess: () => {
      announce("The session is ended.");
      return refresh();
    },
  });
  return (
    <Item
      title={<span title={userAgent}>{browserWords(userAgent)}</span>}
      actions={
        <ConfirmButton
          words="Sign out"
          title="End this session?"
          says="That browser has to sign in again with this key. Its other keys stay signed in."
          confirm="End the session"
          busy="Ending"
          act={() => end.sendAsync({ id })}
        />
      }
    >
      signed in <Time at={createdAt} />, last used <Time at={usedAt} />, ends <Time at={expiresAt} />
    </Item>
  );
}
