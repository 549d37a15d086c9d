CREATE TABLE "toolkit_sources" (
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"kind" text NOT NULL,
	"origin" text NOT NULL,
	"options" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"version" integer NOT NULL,
	"changes" text,
	"changes_digest" "bytea",
	"changes_count" integer NOT NULL,
	"next_definition" text,
	"refreshed_at" timestamp (3) with time zone NOT NULL,
	"last_error" text NOT NULL,
	CONSTRAINT "toolkit_sources_key" PRIMARY KEY("project_id","slug")
);
--> statement-breakpoint
ALTER TABLE "toolkit_sources" ADD CONSTRAINT "toolkit_sources_toolkit" FOREIGN KEY ("project_id","slug") REFERENCES "public"."private_toolkits"("project_id","slug") ON DELETE cascade ON UPDATE no action;