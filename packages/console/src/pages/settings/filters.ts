import { oneOfParam, type SearchOf, searchReader } from "../../shell/search-params.ts";

/** The parts of the settings, in their order. */
const settingsTabs = ["you", "browser", "agents", "secrets", "limits", "deployment"] as const;

const params = {
  /** The part that is shown; the first where it is not there. */
  tab: oneOfParam(settingsTabs),
};

/** The search parameters of the settings. */
export type SettingsSearch = SearchOf<typeof params>;

/** Reads the search parameters of the settings. */
export const readSettingsSearch: (raw: Record<string, unknown>) => SettingsSearch = searchReader(params);
