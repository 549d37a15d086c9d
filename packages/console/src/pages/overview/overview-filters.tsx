import { usePreferences } from "../../shell/preferences.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ToggleButton } from "../../ui/buttons/toggle-button.tsx";
import { Switch } from "../../ui/fields/switch.tsx";
import { rangeNames, shortRangeWords } from "../../words/ranges.ts";
import { spanWords } from "../../words/spans.ts";
import type { OverviewSearch } from "./filters.ts";

const zoomedOut = { since: undefined, until: undefined };

/** How far back the charts go, the part that was zoomed to, and whether they are tables. */
export function OverviewFilters({
  search: { range = "24h", since, until, table },
  onChange,
}: {
  search: OverviewSearch;
  onChange: (change: OverviewSearch) => void;
}) {
  const { zone } = usePreferences();
  return (
    <>
      {rangeNames.map((name) => (
        <ToggleButton
          key={name}
          on={since === undefined && name === range}
          onPress={() => onChange({ range: name, ...zoomedOut })}
        >
          {shortRangeWords(name)}
        </ToggleButton>
      ))}
      <Switch label="Tables" on={table === "on"} onChange={(on) => onChange({ table: on ? "on" : undefined })} />
      {since !== undefined && until !== undefined && (
        <Button kind="quiet" icon="cross" onPress={() => onChange(zoomedOut)}>
          {spanWords({ since, until }, zone)}
        </Button>
      )}
    </>
  );
}
