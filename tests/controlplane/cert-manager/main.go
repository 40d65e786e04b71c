// cert-manager for the tests: its controllers for an authority and what it signs, and its injector of bundles, as one process.
//
// Its own commands are modules of their own that no proxy serves; this one starts the same controllers without the
// issuers that ask other services, which keeps their clients out of the build.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// What Certificates of an authority of one's own need.
var needed = []string{
	approver.ControllerName,
	ca.CRControllerName,
	selfsigned.CRControllerName,
	issuing.ControllerName,
	keymanager.ControllerName,
	readiness.ControllerName,
	requestmanager.ControllerName,
	revisionmanager.ControllerName,
	trigger.ControllerName,
	issuers.ControllerName,
}

func main() {
	// controller-runtime brings the flag --kubeconfig.
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), flag.Lookup("kubeconfig").Value.String()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string) error {
	options := controller.ContextOptions{Kubeconfig: kubeconfig, KubernetesAPIQPS: 50, KubernetesAPIBurst: 100}
	options.CertificateRequestMinimumBackoffDuration = time.Minute
	options.ClusterResourceNamespace = "cert-manager"
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	ended := make(chan error, len(needed)+1)
	for _, name := range needed {
		construct, known := controller.Known()[name]
		if !known {
			return fmt.Errorf("cert-manager has no controller %s", name)
		}
		built, err := construct(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		go func() { ended <- built.Run(1, ctx) }()
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())

	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if err := certmanager.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	// The injector is told of Secrets by their metadata, and reads them afterwards: from the server, as in cert-manager's own
	// command. A cache of them would be behind, and what was injected then stays.
	read := client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&core.Secret{}}}}
	managed := ctrl.Options{Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Client: read}
	manager, err := ctrl.NewManager(config, managed)
	if err != nil {
		return err
	}
	injected := cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
		},
	}
	if err := cainjector.RegisterAllInjectors(ctx, manager, injected); err != nil {
		return err
	}
	go func() { ended <- manager.Start(ctx) }()
	return <-ended
}
