int a[3 // ]	];
