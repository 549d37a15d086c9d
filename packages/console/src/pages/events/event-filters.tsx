import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { Link } from "@tanstack/react-router";
import { useNow } from "../../clock.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { anyOption, Choice } from "../../ui/choice.tsx";
import { ClearFilters } from "../../ui/clear-filters.tsx";
import { Icon } from "../../ui/icon.tsx";
import { SpanChoice } from "../../ui/span-choice.tsx";
import { Switch } from "../../ui/switch.tsx";
import { TypedFilter } from "../../ui/typed-filter.tsx";
import { beyondReplays, type EventsSearch, isFiltered, noFilters, replayOfThese } from "./filters.ts";
import { TriggerChoice } from "./trigger-choice.tsx";

/** The filters of the list of events. */
export function EventFilters({
  projectId,
  search,
  onChange,
}: {
  projectId: string;
  search: EventsSearch;
  onChange: (change: EventsSearch) => void;
}) {
  const ingest = useQuery(TriggersService.method.listIngestEndpoints, {}, { staleTime: Number.POSITIVE_INFINITY });
  const toolkits = ingest.data?.endpoints.map(({ toolkitSlug }) => ({ value: toolkitSlug, words: toolkitSlug })) ?? [];
  return (
    <>
      <Choice
        label="Toolkit"
        value={search.toolkit ?? ""}
        options={[anyOption, ...toolkits]}
        onChange={(toolkit) => onChange({ toolkit: toolkit || undefined, trigger: undefined })}
      />
      {search.toolkit !== undefined && (
        <TriggerChoice
          toolkit={search.toolkit}
          trigger={search.trigger}
          onChange={(trigger) => onChange({ trigger })}
        />
      )}
      <TypedFilter
        label="Entity"
        short
        value={search.entity ?? ""}
        onChange={(entity) => onChange({ entity: entity || undefined })}
      />
      <TypedFilter
        label="Text of the payload"
        placeholder="Text of the payload, letter for letter"
        value={search.text ?? ""}
        onChange={(text) => onChange({ text: text || undefined })}
      />
      <SpanChoice label="Received" span={search} onChange={onChange} />
      <Switch label="Live" on={search.live !== "off"} onChange={(on) => onChange({ live: on ? undefined : "off" })} />
      {isFiltered(search) && (
        <>
          <ClearFilters onPress={() => onChange(noFilters)} />
          <ReplayThese projectId={projectId} search={search} />
        </>
      )}
    </>
  );
}

/** Leads to a replay of what the filters in force leave, counted before anything is sent. */
function ReplayThese({ projectId, search }: { projectId: string; search: EventsSearch }) {
  const now = useNow(60_000);
  const beyond = beyondReplays(search);
  if (beyond !== "") {
    return (
      <Button
        icon="replay"
        why={`A replay cannot be narrowed by ${beyond}: it would deliver more than this list shows.`}
      >
        Replay these
      </Button>
    );
  }
  return (
    <Link
      to="/p/$projectId/replays"
      params={{ projectId }}
      search={replayOfThese(search, now)}
      className={buttonClass()}
    >
      <Icon name="replay" />
      Replay these
    </Link>
  );
}
