// The OpenTelemetry collector's own OTLP receiver, with nothing behind it but standard output: what it took, one line of JSON for each request.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

var lock sync.Mutex

func say(signal string, text []byte, err error) error {
	lock.Lock()
	defer lock.Unlock()
	if err == nil {
		_, err = fmt.Printf("%s %s\n", signal, text)
	}
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "otlp-receiver:", err)
		os.Exit(1)
	}
}

func main() {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	check(confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": os.Args[1]}},
	}).Unmarshal(config))
	settings := receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
	traces, err := consumer.NewTraces(func(_ context.Context, data ptrace.Traces) error {
		text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(data)
		return say("traces", text, err)
	})
	check(err)
	metrics, err := consumer.NewMetrics(func(_ context.Context, data pmetric.Metrics) error {
		text, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(data)
		return say("metrics", text, err)
	})
	check(err)
	one, err := factory.CreateTraces(context.Background(), settings, config, traces)
	check(err)
	two, err := factory.CreateMetrics(context.Background(), settings, config, metrics)
	check(err)
	check(one.Start(context.Background(), componenttest.NewNopHost()))
	check(two.Start(context.Background(), componenttest.NewNopHost()))
	fmt.Println("ready")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	check(one.Shutdown(context.Background()))
	check(two.Shutdown(context.Background()))
}
