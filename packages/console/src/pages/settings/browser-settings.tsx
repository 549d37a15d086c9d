import { type Preferences, setPreferences, usePreferences } from "../../shell/preferences.ts";
import { CheckField } from "../../ui/fields/field.tsx";
import { OptionsField } from "../../ui/fields/options-field.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { zoneName } from "../../words/time.ts";

const themes: readonly { value: Preferences["theme"]; words: string }[] = [
  { value: "system", words: "As the system" },
  { value: "light", words: "Light" },
  { value: "dark", words: "Dark" },
];

/** What this browser is set to: it is kept here, and nowhere else. */
export function BrowserSettings() {
  const { theme, zone, shortcuts } = usePreferences();
  const zones: readonly { value: Preferences["zone"]; words: string }[] = [
    { value: "local", words: `Your own, ${zoneName("local")}` },
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
          label="Single letters are shortcuts"
          checked={shortcuts}
          onChange={(on) => setPreferences({ shortcuts: on })}
          hint="Turn them off where you speak to the page rather than type. ? shows them all."
        />
      </Stack>
    </Section>
  );
}
